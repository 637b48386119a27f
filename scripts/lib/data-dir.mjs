import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the repository. */
export const PROJECT = realpathSync(fileURLToPath(new URL('../..', import.meta.url)))

export const isRoot = process.getuid?.() === 0

/**
 * Where this clone keeps what it runs: `.windlass/` inside the project. Root's home may be closed
 * to the user that PostgreSQL must run as, so root keeps it under /var/lib instead.
 */
export function projectDataDir() {
  if (!isRoot) return prepare(path.join(PROJECT, '.windlass'))
  const name = createHash('sha256').update(PROJECT).digest('hex').slice(0, 12)
  return prepare(path.join('/var/lib/windlass', name))
}

/** Makes a data directory that other users may walk through (root) or not even enter (others). */
export function prepare(dir) {
  mkdirSync(dir, { recursive: true })
  chmodSync(dir, isRoot ? 0o711 : 0o700)
  return dir
}

/** Writes down a secret of this data directory; only its owner can read the file. */
export function keepSecret(dir, name, text) {
  const folder = path.join(dir, 'secrets')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(path.join(folder, name), text, { mode: 0o600 })
}

/** A random secret of this data directory, made at its first use; only its owner can read the file. */
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
