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
    return livingIn(readFileSync(path.join(dir, 'lock'), 'utf8'))
  } catch {
    return undefined
  }
}

/** The process that a claim names, if it still runs. */
function livingIn(text: string): ProcessId | undefined {
  try {
    const claimed: ProcessId = JSON.parse(text)
    return lives(claimed) ? claimed : undefined
  } catch {
    return undefined
  }
}

/**
 * Claims a file by a link, which appears with its content in one step, so that no process reads a half-written
 * claim. Only a process that has claimed a second file removes the claim of a dead one, after it has looked again:
 * without that, of two that find the claim of a dead process, the later one would remove the new claim of the earlier
 * one. The second file is claimed in the same way, because its holder may have died too.
 */
function claim(draft: string, file: string): void {
  const takeover = `${file}.takeover`
  while (!isLinked(draft, file)) {
    if (!isAbandoned(file)) continue
    claim(draft, takeover)
    try {
      if (isAbandoned(file)) rmSync(file)
    } finally {
      rmSync(takeover)
    }
  }
}

function isLinked(draft: string, file: string): boolean {
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

/** True for the claim of a dead process, false without one. Throws a `HeldError` for that of a living process. */
function isAbandoned(file: string): boolean {
  const text = readIfThere(file)
  if (text === undefined) return false
  const other = livingIn(text)
  if (!other) return true
  const dir = path.dirname(file)
  throw new HeldError(`Already running, as process ${other.pid} (its data is in ${dir}).`)
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
