import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { prepare, projectDataDir } from './data-dir.mjs'
import { holder } from './lock.mjs'
import { birth } from './pids.mjs'

/**
 * A data directory for this process alone, to be removed when it ends. It lies in the project's
 * own one, since another user (PostgreSQL's) must be able to reach it, which TMPDIR does not promise.
 * Those that killed processes left behind go now.
 */
export function temporaryDir() {
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
