import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { startTimeLimit } from '@windlass/runtime/timeout'
import type { WorkerMessage, WorkerReply, WorkerSetup } from './protocol.ts'

const MEBIBYTE = 1_048_576
const START_MS = 20_000
const MIN_CHECK_MS = 50
const MAX_HEAP_MEBIBYTES = 128
const MAX_PARSER_BYTES = 192 * MEBIBYTE
/** A thread whose parser holds more is replaced after its reply; 1 MiB of ordinary source takes 79. */
const KEEP_PARSER_BYTES = 96 * MEBIBYTE

/** Reason why a thread did not reply. `cpu_starved` is not the fault of the source: the machine was busy. */
export type WorkerFailure = 'timeout' | 'cpu_starved' | 'crashed'

/** Limits on the analysis of one source. */
export interface AnalysisLimits {
  /** Processor time of the whole process: the share of a single thread is not measurable. */
  maxCpuMs: number
  /** Real time, regardless of how much processor time the process got. */
  maxWallMs: number
  /** Processor time that the process has used so far. */
  readCpuMs?: () => number
}

export interface ThreadOptions {
  sdkModules: string[]
  /** The program of the thread; by default the built file in this folder. */
  workerUrl?: URL
}

/** One worker thread that analyses sources, one at a time, with limits on time and memory. */
export class AnalysisThread {
  readonly #worker: Worker
  #isSpent = false

  private constructor(worker: Worker) {
    this.#worker = worker
    // Without a listener an error would end the process; a pending analysis sees the exit.
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.#isSpent = true
    })
  }

  /** Returns a thread that is ready for its first source. */
  static async start({ sdkModules, workerUrl }: ThreadOptions): Promise<AnalysisThread> {
    const workerData: WorkerSetup = { sdkModules, maxParserBytes: MAX_PARSER_BYTES }
    const worker = new Worker(workerUrl ?? new URL('./analysis.worker.js', import.meta.url), {
      workerData,
      env: {},
      execArgv: [],
      name: 'analysis',
      resourceLimits: {
        maxOldGenerationSizeMb: MAX_HEAP_MEBIBYTES,
        maxYoungGenerationSizeMb: 16,
        stackSizeMb: 4,
      },
    })
    const thread = new AnalysisThread(worker)
    try {
      await once(worker, 'message', { signal: AbortSignal.timeout(START_MS) })
      return thread
    } catch (error) {
      await thread.stop()
      throw error
    }
  }

  /** True after a failure, an exit, or growth beyond the limit: stop the thread, do not use it again. */
  get isSpent(): boolean {
    return this.#isSpent
  }

  async analyse(source: Uint8Array, limits: AnalysisLimits): Promise<WorkerReply | WorkerFailure> {
    const reply = await this.#request(source, limits)
    const isFull = typeof reply === 'object' && reply.parserBytes > KEEP_PARSER_BYTES
    if (typeof reply === 'string' || 'error' in reply || isFull) this.#isSpent = true
    return reply
  }

  async stop(): Promise<void> {
    this.#isSpent = true
    await this.#worker.terminate()
  }

  #request(source: Uint8Array, limits: AnalysisLimits): Promise<WorkerMessage | WorkerFailure> {
    return new Promise((resolve) => {
      const stopDeadline = startDeadline(limits, (failure) => settle(failure))
      const settle = (reply: WorkerMessage | WorkerFailure) => {
        stopDeadline()
        this.#worker.off('message', settle)
        this.#worker.off('exit', onExit)
        resolve(reply)
      }
      const onExit = () => settle('crashed')
      this.#worker.on('message', settle)
      this.#worker.on('exit', onExit)
      if (this.#isSpent) onExit()
      else this.#worker.postMessage(source)
    })
  }
}

/** Reports the first limit that is reached; the returned function stops the deadline. */
function startDeadline(
  { maxCpuMs, maxWallMs, readCpuMs = readProcessCpuMs }: AnalysisLimits,
  onExpired: (why: WorkerFailure) => void,
) {
  const [cpuBeforeMs, startedAt] = [readCpuMs(), performance.now()]
  const check = () => {
    const leftMs = maxCpuMs - (readCpuMs() - cpuBeforeMs)
    const elapsedMs = performance.now() - startedAt
    if (leftMs <= 0) onExpired('timeout')
    else if (elapsedMs >= maxWallMs) onExpired('cpu_starved')
    else wait(Math.min(Math.max(leftMs, MIN_CHECK_MS), maxWallMs - elapsedMs))
  }
  let stop = () => {}
  // The processor time is that of the whole process: while its main thread is busy, the answer waits.
  const wait = (ms: number) => {
    stop = startTimeLimit(ms, check)
  }
  wait(maxCpuMs)
  return () => stop()
}

function readProcessCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
