import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Stores a secret of a data directory in a file that only its owner can read. */
export function keepSecret(dir: string, name: string, text: string): void {
  writeFileSync(path.join(secretsOf(dir), name), text, { mode: 0o600 })
}

/** Returns a random secret of a data directory, generated at first use; only its owner can read the file. */
export function secret(dir: string, name: string, bytes = 24): string {
  const file = path.join(secretsOf(dir), name)
  try {
    writeFileSync(file, randomBytes(bytes).toString('hex'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8')
}

function secretsOf(dir: string): string {
  const folder = path.join(dir, 'secrets')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}
