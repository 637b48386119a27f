// `npm run test:pythons`: runs the tests of the SDK with each supported Python that is present, with the locked
// packages, and with the oldest one also with the lowest versions that `sdk/python/pyproject.toml` admits. A
// Python that is not present is named as skipped. `npm run test:pythons -- 3.13 lowest` runs only these; what follows
// them goes to pytest, such as `-k replay`.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { projectDataDir } from './bootstrap/data-dir.mjs'
import { catchSignals, stopSignal } from './process/signals.ts'
import { Progress } from './setup/progress.ts'
import { ensurePython, findPythons } from './setup/python.ts'
import { type Counts, closingLine, total } from './testing/counts.ts'
import { temporaryEnv } from './testing/temp-file-check.ts'
import { runPytest } from './testing/test-runs.ts'

const VERSIONS = ['3.11', '3.12', '3.13', '3.14']
const LOWEST = 'lowest'

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
  const all = [...VERSIONS, LOWEST]
  const firstOption = args.findIndex((arg) => !all.includes(arg))
  const selected = args.slice(0, firstOption === -1 ? args.length : firstOption)
  const pytestArgs = args.slice(selected.length)
  const isSelected = (name: string) => selected.length === 0 || selected.includes(name)
  const context = { dir: projectDataDir(), progress: new Progress() }
  const present = await findPythons(VERSIONS)
  for (const version of VERSIONS.filter(isSelected)) {
    const from = present.get(version)
    if (!from) lines.push(`Python ${version}: skipped, because it is not present`)
    else {
      const venv = { packages: 'dev', folder: `venv-${version}`, from } as const
      await test(`Python ${version}`, await ensurePython(context, venv), pytestArgs)
    }
  }
  if (!isSelected(LOWEST)) return
  const [oldest] = present.values()
  if (!oldest) throw new Error('no supported Python is present')
  const lowest = { packages: 'lowest', folder: 'lowest-versions', from: oldest } as const
  await test(lowest.folder, await ensurePython(context, lowest), pytestArgs)
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
