// @ts-check
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root folder of the repository. */
export const PROJECT = realpathSync(fileURLToPath(new URL('../..', import.meta.url)))

export const isRoot = process.getuid?.() === 0

/**
 * Returns the data directory of this checkout: `.windlass/` inside the project. For root it is under
 * /var/lib, because the user that runs PostgreSQL may not be able to enter root's home.
 */
export function projectDataDir() {
  if (!isRoot) return prepare(path.join(PROJECT, '.windlass'))
  const name = createHash('sha256').update(PROJECT).digest('hex').slice(0, 12)
  return prepare(path.join('/var/lib/windlass', name))
}

/**
 * Creates a data directory: traversable by other users for root, closed to them otherwise.
 *
 * @param {string} dir
 */
export function prepare(dir) {
  mkdirSync(dir, { recursive: true })
  chmodSync(dir, isRoot ? 0o711 : 0o700)
  return dir
}
