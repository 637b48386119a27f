// `npm run test:frameworks`: runs the Python client inside Flask, Django, FastAPI, Celery and a notebook, each the
// real program, and the worker with uvloop, against a running system. Their packages are in an environment of
// their own.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { projectDataDir } from './bootstrap/data-dir.mjs'
import { catchSignals } from './process/signals.ts'
import { build } from './setup/build.ts'
import { Progress } from './setup/progress.ts'
import { ensurePython } from './setup/python.ts'
import { closingLine } from './testing/counts.ts'
import { temporaryEnv } from './testing/temp-file-check.ts'
import { runVitest } from './testing/test-runs.ts'

const TESTS = ['--project', 'e2e', 'tests/e2e/python-system.test.ts', '-t', 'frameworks']

catchSignals()
const folder = mkdtempSync(path.join(os.tmpdir(), 'windlass-test-'))
try {
  const context = { dir: projectDataDir(), progress: new Progress() }
  await build(context)
  const options = { packages: 'frameworks', folder: 'venv-frameworks' } as const
  const python = await ensurePython(context, options)
  const env = { ...process.env, ...temporaryEnv(folder), TEST_FRAMEWORKS: '1' }
  const counts = await runVitest(TESTS, { folder, python, env })
  process.stdout.write(`\n${closingLine(counts)}\n`)
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
