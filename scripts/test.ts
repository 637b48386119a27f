// `npm test`: sets up what is missing, runs vitest and pytest, and closes with one line of counts.
//   npm test                                 everything
//   npm test -- --project unit               vitest only, with these arguments
//   npm test -- python -k replay             pytest only, with these arguments
//   npm run test:chaos                       the long tests, which `npm test` leaves out
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { PROJECT, projectDataDir } from './bootstrap/data-dir.mjs'
import { catchSignals, stopSignal } from './process/signals.ts'
import { build } from './setup/build.ts'
import { ensureServiceNode } from './setup/node.ts'
import { ensureChromium } from './setup/packages.ts'
import { Progress } from './setup/progress.ts'
import { ensurePython } from './setup/python.ts'
import { run } from './setup/run.ts'
import { type Counts, closingLine, total } from './testing/counts.ts'
import { leftoverCounts, temporaryEnv } from './testing/temp-file-check.ts'
import {
  runPytest,
  runPytestRepeated,
  runVitest,
  runVitestRepeated,
  type TestTools,
} from './testing/test-runs.ts'

const isRepeated = process.env.TEST_REPEAT !== 'never'

catchSignals()
const folder = mkdtempSync(path.join(os.tmpdir(), 'windlass-test-'))
let counts: Counts = { passed: 0, failed: 1, skipped: 0 }
try {
  counts = total(await runAll(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (stopSignal.aborted) process.stderr.write(`\n${stopSignal.reason.message}\n`)
process.stdout.write(`\n${closingLine(counts)}\n`)
process.exitCode = counts.failed > 0 || stopSignal.aborted ? 1 : 0

async function runAll([first, ...rest]: string[]): Promise<Counts[]> {
  const context = { dir: projectDataDir(), progress: new Progress() }
  await build(context)
  const python = await ensurePython(context, { packages: 'dev' })
  // Hundreds of workers and children import the SDK, and compile it each time where Python writes no bytecode.
  await run(python, ['-m', 'compileall', '-q', 'sdk/python/src'], { cwd: PROJECT })
  const chromium = first === undefined ? await ensureChromium(context.progress) : undefined
  const browser = chromium === undefined ? {} : { TEST_CHROMIUM: chromium }
  const temporary = temporaryEnv(folder)
  const node = await ensureServiceNode(context.progress)
  const tools = { folder, python, node, env: { ...process.env, ...browser, ...temporary } }
  const runs: Promise<Counts>[] = []
  if (first !== 'python') {
    // Each by its name: two negated patterns select all, because each admits what the other excludes.
    const short = ['unit', 'integration', 'e2e'].map((name) => `--project=${name}`)
    const chosen = first === undefined ? short : [first, ...rest]
    runs.push((isRepeated ? runVitestRepeated : runVitest)(chosen, tools))
  }
  // At the same time: both wait a part of the time.
  if (first === undefined || first === 'python') runs.push(runPython(rest, tools, runs[0]))
  const counts = await Promise.all(runs)
  if (!stopSignal.aborted) counts.push(leftoverCounts(temporary))
  return counts
}

function runPython(args: string[], tools: TestTools, other?: Promise<unknown>): Promise<Counts> {
  const isWhole = args.length === 0
  return isWhole && isRepeated ? runPytestRepeated(tools, other) : runPytest(args, tools, other)
}
