import { spawn } from 'node:child_process'
import readline from 'node:readline'
import { stopSignal } from '../process/signals.mjs'
import { generalEnv } from '../system/environment.mjs'

const LINES_KEPT = 30

/**
 * Runs a program, passes each line of its output to `onLine`, and returns its stdout (at most the last
 * 30 lines). Throws with the end of its output if it fails; ends it when this process is stopped. The
 * program gets no settings of Windlass unless `env` contains them.
 */
export async function run(command, args, { onLine = () => {}, ...options } = {}) {
  const stdio = ['ignore', 'pipe', 'pipe']
  const child = spawn(command, args, { stdio, signal: stopSignal, env: generalEnv(), ...options })
  const output = []
  const errors = []
  const reading = [collect(child.stdout, output, onLine), collect(child.stderr, errors, onLine)]
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exit, by) => resolve(exit ?? by))
  })
  await Promise.all(reading)
  if (code === 0) return output.join('\n')
  const command_line = [command, ...args].join(' ')
  const said = [...output, ...errors].map((line) => `    ${line}`).join('\n')
  throw new Error(`\`${command_line}\` failed (${code}):\n${said}`)
}

/** True if a program exists and exits with 0; its output is dropped. */
export async function succeeds(command, args, options) {
  try {
    await run(command, args, options)
    return true
  } catch {
    return false
  }
}

async function collect(stream, lines, onLine) {
  for await (const line of readline.createInterface({ input: stream })) {
    lines.push(line)
    if (lines.length > LINES_KEPT) lines.shift()
    onLine(line)
  }
}
