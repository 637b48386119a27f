import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Writable } from 'node:stream'

export interface Program {
  name: string
  command: string
  args: string[]
  env: Record<string, string>
  /** Matches its output once it is ready. */
  ready: RegExp
  /** Text that the program reads from file descriptor 3. */
  input?: string
  /** Receives all output. */
  onOutput?: ((text: string) => void) | undefined
}

const START_MS = 120_000
const STOP_MS = 30_000
const KEPT_CHARACTERS = 20_000

const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** A child process of a test that can be started, killed and restarted. */
export class Process {
  readonly program: Program
  #child: ChildProcess | undefined
  #output = ''

  constructor(program: Program) {
    this.program = program
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get hasEnded(): boolean {
    return this.#child?.exitCode !== null || this.#child.signalCode !== null
  }

  /** The last part of its output since the start. */
  get output(): string {
    return this.#output
  }

  async start(): Promise<void> {
    const { name, command, args, env, ready, input } = this.program
    this.#output = ''
    const child = spawn(command, args, {
      env: { ...cleanEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe', input === undefined ? 'ignore' : 'pipe'],
    })
    if (input !== undefined) send(input, child.stdio[3])
    this.#child = child
    living.add(child)
    child.once('exit', () => living.delete(child))
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(this.#failed(`${name} was not ready in time`)), START_MS)
      const settle = (error?: Error) => {
        clearTimeout(late)
        if (error) reject(error)
        else resolve()
      }
      const onData = (chunk: Buffer) => {
        this.program.onOutput?.(chunk.toString())
        this.#output = (this.#output + chunk.toString()).slice(-KEPT_CHARACTERS)
        if (ready.test(this.#output)) settle()
      }
      child.stdout?.on('data', onData)
      child.stderr?.on('data', onData)
      child.once('error', settle)
      child.once('exit', () => settle(this.#failed(`${name} ended while starting`)))
    })
  }

  /** Sends a signal and waits for the exit; SIGKILL after STOP_MS. */
  async end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (!child || this.hasEnded) return
    const exited = once(child, 'exit')
    child.kill(signal)
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await exited
    clearTimeout(late)
  }

  async restart(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.end(signal)
    await this.start()
  }

  /** Suspends (SIGSTOP) or continues (SIGCONT) the process. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal)
  }

  #failed(why: string): Error {
    return new Error(`${why}:\n${this.#output.slice(-3_000)}`)
  }
}

function send(text: string, pipe: unknown): void {
  if (!(pipe instanceof Writable)) return
  pipe.on('error', () => {}) // A child that ended before it read it reports that by its exit.
  pipe.end(text)
}

/** The environment without settings of the caller, which must not configure the system under test. */
function cleanEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    ([name]) =>
      !/^(SVC_|TEST_|NODE_OPTIONS|VITEST)/.test(name) && name !== 'MAX_WORKFLOW_UPLOAD_BYTES',
  )
  return Object.fromEntries(entries) as Record<string, string>
}
