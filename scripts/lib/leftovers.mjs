import { mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'

/** What compilers keep for the next time, and not for us to remove. */
const CACHES = /^(tsx-\d+|node-compile-cache)$/

/** The folder where what runs with this environment puts its temporary files: empty, in `folder`. */
export function temporaryEnv(folder) {
  const TMPDIR = path.join(folder, 'tmp')
  mkdirSync(TMPDIR)
  return { TMPDIR }
}

/** Counts what the tests left among the temporary files as one failure, and says what it is. */
export function leftoverCounts({ TMPDIR }) {
  const left = readdirSync(TMPDIR).filter((name) => !CACHES.test(name))
  if (left.length === 0) return { passed: 0, failed: 0, skipped: 0 }
  process.stderr.write(`\nThe tests left in the folder for temporary files: ${left.join(', ')}\n`)
  return { passed: 0, failed: 1, skipped: 0 }
}
