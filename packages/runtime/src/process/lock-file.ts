import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { birth, lives, type ProcessId } from './pids.ts'

/** A living process holds the directory. */
export class HeldError extends Error {}

/**
 * Claims a data directory for this process and returns a function that releases it. Throws a
 * `HeldError` that names the pid while another living process holds it; the claim of a dead one is taken over.
 */
export function lock(dir: string): () => void {
  const file = path.join(dir, 'lock')
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify({ pid: process.pid, born: birth(process.pid) }), {
    mode: 0o600,
  })
  try {
    claim(draft, file)
  } finally {
    rmSync(draft)
  }
  return () => rmSync(file, { force: true })
}

/** Returns the process that holds a data directory, or undefined. */
export function holder(dir: string): ProcessId | undefined {
  try {
    const claimed: ProcessId = JSON.parse(readFileSync(path.join(dir, 'lock'), 'utf8'))
    return lives(claimed) ? claimed : undefined
  } catch {
    return undefined
  }
}

// a link appears with its content in one step, so no process reads a half-written claim
function claim(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const dir = path.dirname(file)
    const other = holder(dir)
    if (other)
      throw new HeldError(`Already running, as process ${other.pid} (its data is in ${dir}).`)
    rmSync(file, { force: true })
    linkSync(draft, file)
  }
}
