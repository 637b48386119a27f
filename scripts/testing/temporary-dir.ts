import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { holder } from '../../packages/runtime/src/process/lock-file.ts'
import { birth } from '../../packages/runtime/src/process/pids.ts'
import { prepare, projectDataDir } from '../bootstrap/data-dir.mjs'

/**
 * Creates a data directory for this process, to be removed at its end. It is inside the project's data
 * directory, because another user (PostgreSQL's) must be able to reach it, unlike TMPDIR. Directories of
 * killed processes are removed now.
 */
export function temporaryDir(): string {
  const folder = path.join(projectDataDir(), 'temporary')
  prepare(folder)
  for (const name of readdirSync(folder)) {
    const dir = path.join(folder, name)
    if (birth(Number(name)) === undefined && !holder(dir))
      rmSync(dir, { recursive: true, force: true })
  }
  const dir = path.join(folder, String(process.pid))
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir)
  return prepare(dir)
}
