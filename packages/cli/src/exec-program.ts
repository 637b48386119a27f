import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { Writable } from 'node:stream'
import { Failure } from './command.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs a program in our place: with our input and output, and every signal that reaches us reaches
 * it once. It has a process group of its own, else a terminal's Ctrl-C would reach it twice. It reads
 * `secret`, if there is one, from file descriptor 3. Answers its exit status.
 */
export async function execProgram(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  secret?: string,
): Promise<number> {
  let child: ChildProcess | undefined
  const pass = (signal: NodeJS.Signals) => void child?.kill(signal)
  // Before there is a child: one that is told to stop at once must be told through us.
  for (const signal of SIGNALS) process.on(signal, pass)
  try {
    const stdio: StdioOptions = ['inherit', 'inherit', 'inherit']
    if (secret !== undefined) stdio.push('pipe')
    const running = spawn(program, args, { stdio, env, detached: true })
    child = running
    writeSecret(secret, running)
    return await new Promise((resolve, reject) => {
      running.once('error', (error) =>
        reject(new Failure(`cannot run ${program}: ${error.message}`)),
      )
      running.once('exit', (code, signal) =>
        resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)),
      )
    })
  } finally {
    for (const signal of SIGNALS) process.off(signal, pass)
  }
}

function writeSecret(secret: string | undefined, { stdio }: ChildProcess): void {
  const pipe = stdio[3]
  if (secret === undefined || !(pipe instanceof Writable)) return
  pipe.on('error', () => {}) // The child ended before it read; its exit status says so.
  pipe.end(secret)
}
