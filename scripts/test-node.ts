// `npm run test:node -- 22 24`: runs the unit tests and a short end-to-end test under other versions of
// Node. The programs come from the npm package `node` and are kept in the data directory.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { projectDataDir } from './bootstrap/data-dir.mjs'
import { catchSignals, stopSignal } from './process/signals.ts'
import { build } from './setup/build.ts'
import { ensureNode } from './setup/node.ts'
import { Progress } from './setup/progress.ts'
import { ensurePython } from './setup/python.ts'
import { run } from './setup/run.ts'
import { type Counts, closingLine, total } from './testing/counts.ts'
import { temporaryEnv } from './testing/temp-file-check.ts'
import { runVitest } from './testing/test-runs.ts'

/** Arguments of vitest, one run each. */
const RUNS = [
  ['--project', 'unit'],
  ['--project', 'e2e', 'tests/e2e/job.test.ts', 'tests/e2e/streams.test.ts'],
]

catchSignals()
const versions = process.argv.slice(2)
let isPassed = versions.length > 0
if (!isPassed) process.stderr.write('usage: npm run test:node -- VERSION…, such as 22 24\n')
const folder = mkdtempSync(path.join(os.tmpdir(), 'windlass-test-'))
try {
  if (isPassed) await testAll()
} catch (error) {
  isPassed = false
  process.stderr.write(`\n${(error as Error).message}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = isPassed ? 0 : 1

async function testAll(): Promise<void> {
  const context = { dir: projectDataDir(), progress: new Progress() }
  await build(context)
  const python = await ensurePython(context)
  const tools = { folder, python, env: { ...process.env, ...temporaryEnv(folder) } }
  for (const version of versions) {
    const node = await ensureNode(context.progress, version)
    const exact = await run(node, ['--version'], {})
    const counts: Counts[] = []
    for (const args of RUNS) {
      stopSignal.throwIfAborted()
      counts.push(await runVitest(args, { ...tools, node }))
    }
    const sum = total(counts)
    isPassed &&= sum.failed === 0
    process.stdout.write(`\nNode ${exact}: ${closingLine(sum)}\n`)
  }
}
