import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { holder } from './lock-file.ts'

const fileOf = (dir: string) => path.join(dir, 'server.json')

/**
 * Writes the URL of the running system into its data directory, where the command line finds it.
 * The caller holds the lock of the directory.
 */
export function publishServer(dir: string, url: string): void {
  const file = fileOf(dir)
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify({ url })}\n`, { mode: 0o600 })
  renameSync(draft, file)
}

/** Removes the URL, also that of an earlier run that was killed. */
export const withdrawServer = (dir: string): void => rmSync(fileOf(dir), { force: true })

/** The URL of the system that runs in a data directory, or undefined if none runs there. */
export function findServer(dir: string): string | undefined {
  if (holder(dir) === undefined) return undefined
  try {
    return JSON.parse(readFileSync(fileOf(dir), 'utf8')).url
  } catch {
    return undefined // it is still starting
  }
}
