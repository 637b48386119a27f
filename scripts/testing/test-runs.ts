import { type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { PROJECT } from '../bootstrap/data-dir.mjs'
import { stopSignal } from '../process/signals.ts'
import { type Counts, junitCounts, vitestCounts } from './counts.ts'
import { caseNames, MAX_REPEATED, repeatableFailures, unstableTests } from './unstable-tests.ts'

export interface TestTools {
  /** Folder for reports. */
  folder: string
  python: string
  /** The Node that runs vitest and what vitest starts; this one if absent. */
  node?: string
  env: NodeJS.ProcessEnv
}

/**
 * Runs vitest like `runVitest`. If a few tests fail, their files run once more, one at a time: a machine
 * that stops for seconds fails tests that are right. The second run decides; tests that failed only
 * once are named as unstable, to be mended.
 */
export async function runVitestRepeated(args: string[], tools: TestTools): Promise<Counts> {
  const counts = await runVitest(args, tools)
  const failed = repeatableFailures(textOf(reportOf(tools)))
  if (failed.length === 0 || stopSignal.aborted) return counts
  const files = [...new Set(failed.map(({ file }) => file))]
  process.stdout.write(`\n${failed.length} failed: their files run once more, one at a time\n`)
  const options = args.filter((arg, i) => isValue(args[i - 1]) || !isPath(arg))
  const again = await runVitest([...options, '--no-file-parallelism', ...files], tools)
  const unstable = unstableTests(failed, textOf(reportOf(tools)))
  for (const { file, title } of unstable)
    process.stdout.write(`UNSTABLE: ${path.relative(PROJECT, file)} > ${title}\n`)
  const { passed, skipped } = counts
  return { passed: passed + unstable.length, failed: again.failed, skipped }
}

/** True for an argument that may be the value of the one before it. */
const isValue = (before = '') => before.startsWith('-') && !before.includes('=')
const isPath = (arg: string) => existsSync(path.resolve(PROJECT, arg))

const reportOf = ({ folder }: TestTools) => path.join(folder, 'vitest.json')

/** Runs vitest with visible output and counts its tests; end-to-end tests run workers with `python`. */
export async function runVitest(args: string[], tools: TestTools): Promise<Counts> {
  const { python, env, node = process.execPath } = tools
  const report = reportOf(tools)
  const vitest = path.join(PROJECT, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const command = [vitest, 'run', ...reporters, ...args]
  const options = { cwd: PROJECT, env: { ...env, TEST_PYTHON: python } }
  const code = await show(node, command, options)
  return vitestCounts(textOf(report), code)
}

/**
 * Runs all tests of pytest. If a few of them fail, and nothing else does, they run once more when the `other` run has ended.
 */
export async function runPytestRepeated(
  tools: TestTools,
  other?: Promise<unknown>,
): Promise<Counts> {
  const cache = ['-o', `cache_dir=${tools.folder}/pytest-cache`]
  const { code, counts, report } = await pytest(cache, tools, other)
  const failed = caseNames(report, 'failed')
  const isBroken = code !== SOME_FAILED || failed.some((name) => /^(?:pytest)? > /.test(name))
  if (isBroken || failed.length > MAX_REPEATED || stopSignal.aborted) return counts
  process.stdout.write(`\n${failed.length} failed: they run once more\n`)
  const again = await pytest([...cache, '--last-failed'], tools)
  const passed = new Set(caseNames(again.report, 'passed'))
  const unstable = failed.filter((name) => passed.has(name))
  for (const name of unstable) process.stdout.write(`UNSTABLE: sdk/python > ${name}\n`)
  return {
    passed: counts.passed + unstable.length,
    failed: Math.max(again.counts.failed, failed.length - unstable.length),
    skipped: counts.skipped,
  }
}

/** Exit code of pytest for failed tests, and not for a file that does not load or an error of its own. */
const SOME_FAILED = 1

/** Runs pytest of the SDK and counts its tests. With an `other` run, its output follows when both have ended. */
export async function runPytest(
  args: string[],
  tools: TestTools,
  other?: Promise<unknown>,
): Promise<Counts> {
  return (await pytest(args, tools, other)).counts
}

async function pytest(
  args: string[],
  { folder, python, env }: TestTools,
  other?: Promise<unknown>,
): Promise<{ code: number; counts: Counts; report: string }> {
  const report = path.join(folder, 'pytest.xml')
  rmSync(report, { force: true })
  const basetemp = path.join(folder, 'pytest')
  const command = ['-m', 'pytest', `--junitxml=${report}`, `--basetemp=${basetemp}`, ...args]
  const options = { cwd: path.join(PROJECT, 'sdk/python'), env }
  const log = path.join(folder, 'pytest.log')
  const output = other ? openSync(log, 'w') : 'inherit'
  const code = await show(python, command, options, output)
  if (output !== 'inherit') {
    closeSync(output)
    await other
    process.stdout.write(`\n${textOf(log)}`)
  }
  const text = textOf(report)
  return { code, counts: junitCounts(text, code), report: text ?? '' }
}

function show(
  command: string,
  args: string[],
  options: SpawnOptions,
  output: number | 'inherit' = 'inherit',
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...options,
      stdio: ['ignore', output, output],
      signal: stopSignal,
    })
    child.once('error', () => resolve(1))
    child.once('close', (code) => resolve(code ?? 1))
  })
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
