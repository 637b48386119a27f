import { once } from 'node:events'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { Message, Reply, Setup } from './protocol.ts'

const MEBIBYTE = 1_048_576
const START_MS = 20_000
const SHORTEST_LOOK_MS = 50
const MAX_HEAP_MEBIBYTES = 128
const MAX_PARSER_BYTES = 192 * MEBIBYTE
/** A thread whose parser has grown beyond this is replaced after its answer; 1 MiB of plain source takes 79. */
const KEEP_PARSER_BYTES = 96 * MEBIBYTE

/** Why a thread gave no answer; `starved` where that says nothing of the source. */
export type Death = 'too slow' | 'starved' | 'died'

/** How long a thread may take over one source. */
export interface Limits {
  /** Of processor time, or less: nobody can say what a thread alone has used, so it is the process's. */
  limitMs: number
  /** Of real time, however little of it the process got to run. */
  patienceMs: number
  /** What the process has used so far. */
  cpuMs?: () => number
}

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

  /** Reads a source. A thread that takes longer than it may, fails or grows too large is spent: stop it. */
  async read(source: Uint8Array, limits: Limits): Promise<Reply | Death> {
    const reply = await this.#ask(source, limits)
    const full = typeof reply === 'object' && reply.parserBytes > KEEP_PARSER_BYTES
    if (typeof reply === 'string' || 'error' in reply || full) this.spent = true
    return reply
  }

  async stop(): Promise<void> {
    this.spent = true
    await this.#worker.terminate()
  }

  #ask(source: Uint8Array, limits: Limits): Promise<Message | Death> {
    return new Promise((resolve) => {
      const stopWatch = watch(limits, (death) => settle(death))
      const settle = (reply: Message | Death) => {
        stopWatch()
        this.#worker.off('message', settle)
        this.#worker.off('exit', died)
        resolve(reply)
      }
      const died = () => settle('died')
      this.#worker.on('message', settle)
      this.#worker.on('exit', died)
      if (this.spent) settle('died')
      else this.#worker.postMessage(source)
    })
  }
}

/** Tells when the time is over, and which; what it answers calls that off. */
function watch({ limitMs, patienceMs, cpuMs = processCpuMs }: Limits, over: (why: Death) => void) {
  const [usedBefore, begun] = [cpuMs(), performance.now()]
  const look = () => {
    const leftMs = limitMs - (cpuMs() - usedBefore)
    const waitedMs = performance.now() - begun
    if (leftMs <= 0) over('too slow')
    else if (waitedMs >= patienceMs) over('starved')
    else
      timer = setTimeout(look, Math.min(Math.max(leftMs, SHORTEST_LOOK_MS), patienceMs - waitedMs))
  }
  let timer = setTimeout(look, limitMs)
  return () => clearTimeout(timer)
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Where the sources are not built, as in tests, a thread makes itself what it runs. */
function spawn(options: WorkerOptions): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./analysis.worker.js', import.meta.url), {
      ...options,
      execArgv: [],
    })
  }
  const file = fileURLToPath(new URL('./analysis.worker.ts', import.meta.url))
  const how = {
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    conditions: ['windlass'],
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(file).href) },
  }
  const load = `import('esbuild')
    .then(({ build }) => build(${JSON.stringify(how)}))
    .then(({ outputFiles: [{ text }] }) => import('data:text/javascript,' + encodeURIComponent(text)))`
  return new Worker(load, { ...options, eval: true, execArgv: [] })
}
