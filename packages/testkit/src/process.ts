import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Program {
  name: string
  command: string
  args: string[]
  env: Record<string, string>
  /** Seen in its output when it is ready. */
  ready: RegExp
  /** Gets everything that it prints. */
  onOutput?: ((text: string) => void) | undefined
}

const START_MS = 120_000
const STOP_MS = 30_000
const KEPT_CHARACTERS = 20_000

const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** A real child process of a test: started, watched, killed and started again under its own name. */
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

  /** The end of what it printed since it was started. */
  get output(): string {
    return this.#output
  }

  async start(): Promise<void> {
    const { name, command, args, env, ready } = this.program
    this.#output = ''
    const child = spawn(command, args, {
      env: { ...cleanEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
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

  /** Ends it with a signal and waits for its end. */
  async end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (!child || this.hasEnded) return
    const gone = once(child, 'exit')
    child.kill(signal)
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await gone
    clearTimeout(late)
  }

  async restart(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.end(signal)
    await this.start()
  }

  /** Stops it in its tracks, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal)
  }

  #failed(why: string): Error {
    return new Error(`${why}:\n${this.#output.slice(-3_000)}`)
  }
}

/** Settings of whoever runs the tests are not those of the system under test. */
function cleanEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    ([name]) =>
      !/^(SVC_|TEST_|NODE_OPTIONS|VITEST)/.test(name) && name !== 'MAX_WORKFLOW_UPLOAD_BYTES',
  )
  return Object.fromEntries(entries) as Record<string, string>
}
