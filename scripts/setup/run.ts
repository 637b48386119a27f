import { type SpawnOptions, spawn } from 'node:child_process'
import readline from 'node:readline'
import type { Readable } from 'node:stream'
import { stopSignal } from '../process/signals.ts'
import { generalEnv } from '../system/environment.ts'

const LINES_KEPT = 30

export interface RunOptions extends Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> {
  onLine?: (line: string) => void
  /** Ends the program after this time. */
  limitMs?: number
}

/**
 * Runs a program, passes each line of its output to `onLine`, and returns its stdout (at most the last
 * 30 lines). Throws with the end of its output if it fails, and without it if it exceeds the limit; ends it
 * when this process is stopped. The program gets no settings of Windlass unless `env` contains them.
 */
export async function run(
  command: string,
  args: string[],
  { onLine = () => {}, limitMs, ...options }: RunOptions = {},
): Promise<string> {
  const command_line = [command, ...args].join(' ')
  const limit = limitMs === undefined ? [] : [AbortSignal.timeout(limitMs)]
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([stopSignal, ...limit]),
    env: generalEnv(),
    ...options,
  })
  const output: string[] = []
  const errors: string[] = []
  const reading = [collect(child.stdout, output, onLine), collect(child.stderr, errors, onLine)]
  const code = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', (error) => {
      const isTooSlow = limit[0]?.aborted === true && !stopSignal.aborted
      const tooSlow = new Error(`\`${command_line}\` took longer than ${(limitMs ?? 0) / 1000} s`)
      reject(isTooSlow ? tooSlow : error)
    })
    child.once('close', (exit, by) => resolve(exit ?? by))
  })
  await Promise.all(reading)
  if (code === 0) return output.join('\n')
  const said = [...output, ...errors].map((line) => `    ${line}`).join('\n')
  throw new Error(`\`${command_line}\` failed (${code}):\n${said}`)
}

/** True if a program exists and exits with 0; its output is dropped. */
export async function succeeds(
  command: string,
  args: string[],
  options?: RunOptions,
): Promise<boolean> {
  try {
    await run(command, args, options)
    return true
  } catch {
    return false
  }
}

async function collect(stream: Readable, lines: string[], onLine: (line: string) => void) {
  for await (const line of readline.createInterface({ input: stream })) {
    lines.push(line)
    if (lines.length > LINES_KEPT) lines.shift()
    onLine(line)
  }
}
