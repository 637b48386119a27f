import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Defer, withTest } from './defer.ts'

/** Creates an empty folder for one test, accessible to its owner only and removed when the test ends. */
export function temporaryFolder(purpose: string, defer: Defer = withTest): string {
  const folder = mkdtempSync(join(tmpdir(), `windlass-${purpose}-`))
  defer(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
