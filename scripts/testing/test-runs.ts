import { type SpawnOptions, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { PROJECT } from '../bootstrap/data-dir.mjs'
import { stopSignal } from '../process/signals.ts'
import { type Counts, junitCounts, vitestCounts } from './counts.ts'

interface TestTools {
  /** Folder for reports. */
  folder: string
  python: string
  /** The Node that runs vitest and what vitest starts; this one if absent. */
  node?: string
  env: NodeJS.ProcessEnv
}

/** Runs vitest with visible output and counts its tests; end-to-end tests run workers with `python`. */
export async function runVitest(
  args: string[],
  { folder, python, env, node = process.execPath }: TestTools,
): Promise<Counts> {
  const report = path.join(folder, 'vitest.json')
  const vitest = path.join(PROJECT, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const command = [vitest, 'run', ...reporters, ...args]
  const options = { cwd: PROJECT, env: { ...env, TEST_PYTHON: python } }
  const code = await show(node, command, options)
  return vitestCounts(textOf(report), code)
}

/** Runs pytest of the SDK with visible output and counts its tests. */
export async function runPytest(
  args: string[],
  { folder, python, env }: TestTools,
): Promise<Counts> {
  const report = path.join(folder, 'pytest.xml')
  const basetemp = path.join(folder, 'pytest')
  const command = ['-m', 'pytest', `--junitxml=${report}`, `--basetemp=${basetemp}`, ...args]
  const code = await show(python, command, { cwd: path.join(PROJECT, 'sdk/python'), env })
  return junitCounts(textOf(report), code)
}

function show(command: string, args: string[], options: SpawnOptions): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...options,
      stdio: ['ignore', 'inherit', 'inherit'],
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
