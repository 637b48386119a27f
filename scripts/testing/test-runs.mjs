import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { stopSignal } from '../process/signals.mjs'
import { PROJECT } from '../setup/data-dir.mjs'
import { junitCounts, vitestCounts } from './counts.mjs'

/** Runs vitest with visible output and counts its tests; end-to-end tests run workers with `python`. */
export async function runVitest(args, { folder, python, env }) {
  const report = path.join(folder, 'vitest.json')
  const vitest = path.join(PROJECT, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const command = [vitest, 'run', ...reporters, ...args]
  const options = { cwd: PROJECT, env: { ...env, TEST_PYTHON: python } }
  const code = await show(process.execPath, command, options)
  return vitestCounts(textOf(report), code)
}

/** Runs pytest of the SDK with visible output and counts its tests. */
export async function runPytest(args, { folder, python, env }) {
  const report = path.join(folder, 'pytest.xml')
  const basetemp = path.join(folder, 'pytest')
  const command = ['-m', 'pytest', `--junitxml=${report}`, `--basetemp=${basetemp}`, ...args]
  const code = await show(python, command, { cwd: path.join(PROJECT, 'sdk/python'), env })
  return junitCounts(textOf(report), code)
}

function show(command, args, options) {
  return new Promise((resolve) => {
    const stdio = ['ignore', 'inherit', 'inherit']
    const child = spawn(command, args, { ...options, stdio, signal: stopSignal })
    child.once('error', () => resolve(1))
    child.once('close', (code) => resolve(code ?? 1))
  })
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
