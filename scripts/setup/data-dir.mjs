import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
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

/** Creates a data directory: traversable by other users for root, closed to them otherwise. */
export function prepare(dir) {
  mkdirSync(dir, { recursive: true })
  chmodSync(dir, isRoot ? 0o711 : 0o700)
  return dir
}

/** Stores a secret of this data directory in a file that only its owner can read. */
export function keepSecret(dir, name, text) {
  const folder = path.join(dir, 'secrets')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(path.join(folder, name), text, { mode: 0o600 })
}

/** Returns a random secret of this data directory, generated at first use; only its owner can read the file. */
export function secret(dir, name, bytes = 24) {
  const folder = path.join(dir, 'secrets')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = path.join(folder, name)
  try {
    writeFileSync(file, randomBytes(bytes).toString('hex'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8')
}
