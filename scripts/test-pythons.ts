// `npm run test:pythons`: runs the tests of the SDK with each supported Python that is present, with the locked
// packages, and with the oldest one also with the lowest versions that `sdk/python/pyproject.toml` admits. A
// Python that is not present is named as skipped. `npm run test:pythons -- -k replay` gives pytest arguments.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { projectDataDir } from './bootstrap/data-dir.mjs'
import { catchSignals, stopSignal } from './process/signals.ts'
import { Progress } from './setup/progress.ts'
import { ensurePython, findPythons, installLowest } from './setup/python.ts'
import { type Counts, closingLine, total } from './testing/counts.ts'
import { temporaryEnv } from './testing/temp-file-check.ts'
import { runPytest } from './testing/test-runs.ts'

const VERSIONS = ['3.11', '3.12', '3.13', '3.14']

catchSignals()
const lines: string[] = []
const folder = mkdtempSync(path.join(os.tmpdir(), 'windlass-test-'))
let isPassed = true
try {
  await testAll(process.argv.slice(2))
} catch (error) {
  isPassed = false
  process.stderr.write(`\n${(error as Error).message}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.stdout.write(`\n${lines.join('\n')}\n`)
process.exitCode = isPassed && !stopSignal.aborted ? 0 : 1

async function testAll(args: string[]): Promise<void> {
  const context = { dir: projectDataDir(), progress: new Progress() }
  const present = await findPythons(VERSIONS)
  for (const version of VERSIONS) {
    const from = present.get(version)
    if (!from) lines.push(`Python ${version}: skipped, because it is not present`)
    else {
      const venv = { dev: true, folder: `venv-${version}`, from }
      await test(`Python ${version}`, await ensurePython(context, venv), args)
    }
  }
  const [oldest] = present.values()
  if (!oldest) throw new Error('no supported Python is present')
  const lowest = { dev: true, folder: 'lowest-versions', from: oldest }
  const python = await ensurePython(context, lowest)
  await installLowest(python, context)
  await test(lowest.folder, python, args)
}

async function test(what: string, python: string, args: string[]): Promise<void> {
  stopSignal.throwIfAborted()
  // Of its own: the folder for temporary files must be empty.
  const own = mkdtempSync(path.join(folder, 'python-'))
  const tools = { folder: own, python, env: { ...process.env, ...temporaryEnv(own) } }
  const counts: Counts = total([await runPytest(args, tools)])
  isPassed &&= counts.failed === 0
  lines.push(`${what}: ${closingLine(counts)}`)
}
