import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { Writable } from 'node:stream'
import { Failure } from './command.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs a program in place of this process: with its input and output, and with each signal forwarded
 * once. The program gets a process group of its own; otherwise a terminal's Ctrl-C would reach it
 * twice. `secret` is written to its file descriptor 3. Returns its exit status.
 */
export async function execProgram(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  secret?: string,
): Promise<number> {
  let child: ChildProcess | undefined
  const forward = (signal: NodeJS.Signals) => void child?.kill(signal)
  // Registered before the child exists, so that a signal that comes at once is not lost.
  for (const signal of SIGNALS) process.on(signal, forward)
  try {
    const stdio: StdioOptions = ['inherit', 'inherit', 'inherit']
    if (secret !== undefined) stdio.push('pipe')
    const spawned = spawn(program, args, { stdio, env, detached: true })
    child = spawned
    writeSecret(secret, spawned)
    return await new Promise((resolve, reject) => {
      spawned.once('error', (error) =>
        reject(new Failure(`cannot run ${program}: ${error.message}`)),
      )
      spawned.once('exit', (code, signal) =>
        resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)),
      )
    })
  } finally {
    for (const signal of SIGNALS) process.off(signal, forward)
  }
}

function writeSecret(secret: string | undefined, { stdio }: ChildProcess): void {
  const pipe = stdio[3]
  if (secret === undefined || !(pipe instanceof Writable)) return
  pipe.on('error', () => {}) // A child that ended before it read it reports that by its exit status.
  pipe.end(secret)
}
