import { Worker } from 'node:worker_threads'
import { InputSchemaCache } from '@windlass/domain/input/input-schemas'
import { unavailable } from '@windlass/runtime/faults'
import type { BodyParser, InputSchema, InputValidator } from './body-parser.ts'
import {
  type BodyTask,
  type ReaderName,
  type ReaderResult,
  runBodyTask,
  type TaskFailure,
  toError,
} from './body-task.ts'

/**
 * Maximum sizes that the event loop processes itself. A message to a thread and back takes 0.1 ms; checking
 * takes 6 to 15 ms for each MiB, validating up to 300 ms.
 */
const MAX_INLINE_BYTES = 1_048_576
const MAX_INLINE_INPUT_CHARS = 32_768
/** The objects of the largest input take 16 times its size. */
const MAX_HEAP_MEBIBYTES = 1_024

export type ThreadTask =
  | { bytes: Uint8Array; task: BodyTask }
  | { schema: InputSchema; input_json: string }
export type ThreadReply = { value: unknown } | TaskFailure

export interface BodyThreadsOptions {
  threads: number
  /** The program of the threads; by default the built file in this folder. */
  workerUrl?: URL | undefined
}

interface Job {
  message: ThreadTask
  transfer: ArrayBuffer[]
  resolve(value: unknown): void
  reject(error: Error): void
}

/**
 * Worker threads that parse large bodies: the event loop only copies the bytes, and the text of the
 * payloads that comes back. A thread has one job at a time, so that a job that exhausts its memory fails
 * alone; the next job gets a new thread. The number of waiting jobs is limited by the body bytes in flight.
 * The catalog has separate threads for the analysis of sources, with features that are not needed here:
 * deadlines in processor time, a warm start and a queue of its own (`analysis-pool.ts` there says why they
 * are separate).
 */
export class BodyThreads implements BodyParser, InputValidator {
  readonly #options: BodyThreadsOptions
  readonly #schemas = new InputSchemaCache()
  readonly #waiting: Job[] = []
  readonly #idle: Worker[] = []
  readonly #busy = new Set<Worker>()
  /** Number of bodies and inputs that a thread has worked on. */
  jobs = 0

  constructor(options: BodyThreadsOptions) {
    this.#options = options
  }

  async parse<N extends ReaderName>(bytes: Buffer, task: BodyTask<N>): Promise<ReaderResult<N>> {
    if (bytes.length <= MAX_INLINE_BYTES) return runBodyTask(bytes, task)
    const { buffer } = bytes
    const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length
    const transfer = isOwn ? [buffer] : []
    return (await this.#run({ bytes, task }, transfer)) as ReaderResult<N>
  }

  async check({ id, input_schema_json }: InputSchema, input_json: string): Promise<void> {
    if (input_schema_json === '') return
    const schema = { id, input_schema_json }
    if (input_json.length <= MAX_INLINE_INPUT_CHARS) this.#schemas.check(schema, input_json)
    else await this.#run({ schema, input_json })
  }

  async stop(): Promise<void> {
    for (const { reject } of this.#waiting.splice(0)) reject(unavailable('the server is stopping'))
    await Promise.all([...this.#busy, ...this.#idle.splice(0)].map((worker) => worker.terminate()))
  }

  #run(message: ThreadTask, transfer: ArrayBuffer[] = []): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.jobs++
      this.#waiting.push({ message, transfer, resolve, reject })
      this.#next()
    })
  }

  #next(): void {
    if (this.#waiting.length === 0) return
    const worker =
      this.#idle.pop() ?? (this.#busy.size < this.#options.threads ? this.#start() : undefined)
    const job = worker && this.#waiting.shift()
    if (job) this.#assign(worker, job)
  }

  #assign(worker: Worker, { message, transfer, resolve, reject }: Job): void {
    const settle = (isAlive: boolean) => {
      worker.off('message', onReply)
      worker.off('exit', onExit)
      this.#busy.delete(worker)
      if (isAlive) this.#idle.push(worker)
      this.#next()
    }
    const onReply = (reply: ThreadReply) => {
      settle(true)
      if ('value' in reply) resolve(reply.value)
      else reject(toError(reply))
    }
    const onExit = () => {
      settle(false)
      reject(unavailable('the body takes too much memory to check; send a smaller one'))
    }
    this.#busy.add(worker)
    worker.on('message', onReply)
    worker.on('exit', onExit)
    worker.postMessage(message, transfer)
  }

  #start(): Worker {
    const { workerUrl } = this.#options
    const worker = new Worker(workerUrl ?? new URL('./body.worker.js', import.meta.url), {
      env: {},
      execArgv: [],
      name: 'body',
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MEBIBYTES },
    })
    // Without a listener an error would end the process; the job of the thread sees its exit.
    worker.on('error', () => {})
    worker.once('exit', () => {
      const at = this.#idle.indexOf(worker)
      if (at >= 0) this.#idle.splice(at, 1)
    })
    worker.unref()
    return worker
  }
}
