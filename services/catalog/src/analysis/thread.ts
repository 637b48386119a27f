import { once } from 'node:events'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { Message, Reply, Setup } from './protocol.ts'

const MEBIBYTE = 1_048_576
const START_MS = 20_000
const MAX_HEAP_MEBIBYTES = 128
const MAX_PARSER_BYTES = 192 * MEBIBYTE
/** A thread whose parser has grown beyond this is replaced after its answer; 1 MiB of plain source takes 79. */
const KEEP_PARSER_BYTES = 96 * MEBIBYTE

/** Why a thread gave no answer. */
export type Death = 'too slow' | 'died'

/** One thread that reads sources, one at a time, with limits on time and memory. */
export class Thread {
  readonly #worker: Worker
  /** It cannot be used again. */
  spent = false

  private constructor(worker: Worker) {
    this.#worker = worker
    // Without a listener an error would end the process; who waits for an answer sees the exit.
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.spent = true
    })
  }

  /** Answers a thread that is ready to read. */
  static async start(sdkModules: string[]): Promise<Thread> {
    const workerData: Setup = { sdkModules, maxParserBytes: MAX_PARSER_BYTES }
    const worker = spawn({
      workerData,
      env: {},
      name: 'analysis',
      resourceLimits: {
        maxOldGenerationSizeMb: MAX_HEAP_MEBIBYTES,
        maxYoungGenerationSizeMb: 16,
        stackSizeMb: 4,
      },
    })
    const thread = new Thread(worker)
    try {
      await once(worker, 'message', { signal: AbortSignal.timeout(START_MS) })
      return thread
    } catch (error) {
      await thread.stop()
      throw error
    }
  }

  /** Reads a source. A thread that takes longer than `limitMs`, fails or grows too large is spent: stop it. */
  async read(source: Uint8Array, limitMs: number): Promise<Reply | Death> {
    const reply = await this.#ask(source, limitMs)
    const full = typeof reply === 'object' && reply.parserBytes > KEEP_PARSER_BYTES
    if (typeof reply === 'string' || 'error' in reply || full) this.spent = true
    return reply
  }

  async stop(): Promise<void> {
    this.spent = true
    await this.#worker.terminate()
  }

  #ask(source: Uint8Array, limitMs: number): Promise<Message | Death> {
    return new Promise((resolve) => {
      const settle = (reply: Message | Death) => {
        clearTimeout(timer)
        this.#worker.off('message', settle)
        this.#worker.off('exit', died)
        resolve(reply)
      }
      const died = () => settle('died')
      const timer = setTimeout(() => settle('too slow'), limitMs)
      this.#worker.on('message', settle)
      this.#worker.on('exit', died)
      if (this.spent) settle('died')
      else this.#worker.postMessage(source)
    })
  }
}

/** Where the sources are not built, as in tests, a thread needs a loader of TypeScript of its own. */
function spawn(options: WorkerOptions): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./analysis.worker.js', import.meta.url), {
      ...options,
      execArgv: [],
    })
  }
  const entry = JSON.stringify(new URL('./analysis.worker.ts', import.meta.url).href)
  const load = `import('tsx/esm/api').then(({ register }) => (register(), import(${entry})))`
  return new Worker(load, { ...options, eval: true, execArgv: ['--conditions=windlass'] })
}
