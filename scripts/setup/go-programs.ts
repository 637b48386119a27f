import { existsSync } from 'node:fs'
import path from 'node:path'
import { projectDataDir } from '../bootstrap/data-dir.mjs'
import { findProgram } from './programs.ts'
import { Progress } from './progress.ts'
import { run } from './run.ts'

export interface GoProgram {
  name: string
  /** Import path of its main package. */
  module: string
  version: string
}

/**
 * Returns the path of a program: that of the PATH, else one that is built with Go in the data directory, which takes
 * minutes of processor time once. Throws if there is neither, or if the build exceeds the limit: the next one
 * continues from Go's cache.
 */
export async function ensureGoProgram(
  { name, module, version }: GoProgram,
  limitMs?: number,
): Promise<string> {
  const installed = findProgram(name)
  if (installed !== undefined) return installed
  const folder = path.join(projectDataDir(), `tools/${name}-${version}`)
  const built = path.join(folder, name)
  if (existsSync(built)) return built
  const go = findProgram('go', ['/usr/local/go/bin'])
  if (go === undefined) throw new Error(`there is neither ${name} nor Go to build it`)
  const env = { ...process.env, GOBIN: folder, GOFLAGS: '-modcacherw' }
  await new Progress().step(`Building ${name}`, (onLine) =>
    run(go, ['install', '-ldflags=-s -w', `${module}@${version}`], { env, onLine, limitMs }),
  )
  return built
}
