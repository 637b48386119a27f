import { mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import type { Counts } from './counts.ts'

/** Caches of compilers and lock files of testcontainers, which are never removed. */
const LASTING = /^(tsx-\d+|node-compile-cache|testcontainers-node[\w-]*\.lock)$/

/** Returns an environment with an empty folder for temporary files inside `folder`. */
export function temporaryEnv(folder: string): { TMPDIR: string } {
  const TMPDIR = path.join(folder, 'tmp')
  mkdirSync(TMPDIR)
  return { TMPDIR }
}

/** Counts temporary files that the tests left behind as one failure and names them. */
export function leftoverCounts({ TMPDIR }: { TMPDIR: string }): Counts {
  const left = readdirSync(TMPDIR).filter((name) => !LASTING.test(name))
  if (left.length === 0) return { passed: 0, failed: 0, skipped: 0 }
  process.stderr.write(`\nThe tests left in the folder for temporary files: ${left.join(', ')}\n`)
  return { passed: 0, failed: 1, skipped: 0 }
}
