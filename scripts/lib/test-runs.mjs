import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { junitCounts, vitestCounts } from './counts.mjs'
import { PROJECT } from './data-dir.mjs'
import { stopSignal } from './signals.mjs'

/** Runs vitest in sight of the user and counts; the end-to-end tests run workers with `python`. */
export async function runVitest(args, { folder, python }) {
  const report = path.join(folder, 'vitest.json')
  const vitest = path.join(PROJECT, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const env = { ...process.env, TEST_PYTHON: python }
  const command = [vitest, 'run', ...reporters, ...args]
  const code = await show(process.execPath, command, { cwd: PROJECT, env })
  return vitestCounts(textOf(report), code)
}

/** Runs the SDK's pytest in sight of the user and counts. */
export async function runPytest(args, { folder, python }) {
  const report = path.join(folder, 'pytest.xml')
  const command = ['-m', 'pytest', `--junitxml=${report}`, ...args]
  const code = await show(python, command, { cwd: path.join(PROJECT, 'sdk/python') })
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
