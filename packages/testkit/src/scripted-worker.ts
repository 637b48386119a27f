import { randomBytes } from 'node:crypto'
import {
  call,
  type EventFrame,
  type EventStream,
  type HttpResponse,
  openEventStream,
  type RequestOptions,
} from './http.ts'
import { type CheckpointReport, checkpointBody } from './worker-checkpoint.ts'
import { workerRecord } from './worker-record.ts'

const GENERATION = 'x-svc-claim-generation'
const FRAME_MS = 60_000

export interface ScriptedWorkerOptions {
  /** Base URL of a gateway or of a load balancer. */
  url: string
  bootstrap: string
  name?: string
  labels?: Record<string, string>
  /** Maximum of concurrent executions; 0: unlimited. */
  capacity?: number
  packages?: { name: string; version: string }[]
  /** Additions to the protocol that it announces. */
  features?: readonly string[]
  /** Describes why an execution waits, for the error when its frame does not arrive. */
  describeWait?: (execution_id: string) => Promise<string>
}

/** URL and token of a call, if other than the worker's own. */
export interface CallTarget {
  url?: string
  token?: string | undefined
}

/** A frame that the worker has received. */
export interface Dispatched {
  event: string
  /** Frame id: the same for the same work with the same generation. */
  id: string
  execution_id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests access the members that they expect.
  data: any
  /** The data as received. */
  text: string
  /** Time of receipt, of the monotonic clock. */
  receivedMs: number
}

/**
 * A worker that a test controls, over the real protocol: it registers, connects, answers pings, and
 * keeps received frames until the test takes them. It runs no workflow code.
 */
export class ScriptedWorker {
  readonly name: string
  token = ''
  /** False: pings are not answered, as by a hung worker. */
  answersPings = true
  /** The health that its pongs report. */
  isHealthy = true
  readonly #options: ScriptedWorkerOptions
  #stream: EventStream | undefined
  #frames: Dispatched[] = []
  readonly #waiting = new Set<() => void>()

  constructor(options: ScriptedWorkerOptions) {
    this.#options = options
    this.name = options.name ?? `scripted-${randomBytes(4).toString('hex')}`
  }

  /** Registers and connects. */
  async start(way: CallTarget = {}): Promise<this> {
    const { status, text } = await this.register(way)
    if (status !== 200) throw new Error(`register: ${status} ${text}`)
    await this.connect(way)
    return this
  }

  async register({ url = this.#options.url }: CallTarget = {}): Promise<HttpResponse> {
    const { bootstrap } = this.#options
    const answer = await call('POST', `${url}/workers/register`, {
      body: JSON.stringify(workerRecord(this.name, this.#options)),
      headers: { authorization: `Bearer ${bootstrap}`, 'x-svc-session': this.token },
    })
    this.token = answer.json?.session_token ?? this.token
    return answer
  }

  async connect({ url = this.#options.url }: CallTarget = {}): Promise<EventStream> {
    const path = `${url}/workers/${this.name}/connect`
    const stream = await openEventStream(path, this.#headers(), (frame) => this.#onFrame(frame))
    if (stream.status !== 200) throw new Error(`connect: ${stream.status}`)
    this.#stream = stream
    return stream
  }

  get stream(): EventStream {
    if (!this.#stream) throw new Error(`${this.name} has no stream`)
    return this.#stream
  }

  close(): void {
    this.#stream?.close()
  }

  /** Hangs like a stopped process: reads nothing and sends nothing. */
  hang(): void {
    this.answersPings = false
    this.stream.pause()
  }

  /** Frames that the test has not taken. */
  get frames(): readonly Dispatched[] {
    return this.#frames
  }

  /** True if there is a frame of this event and execution. */
  hasFrame(event: string, execution_id: string): boolean {
    return this.#frames.some((one) => one.event === event && one.execution_id === execution_id)
  }

  /** Waits for the next frame, of this event and execution if given, and takes it. */
  async nextFrame(
    event?: string,
    execution_id?: string,
    timeoutMs = FRAME_MS,
  ): Promise<Dispatched> {
    const until = performance.now() + timeoutMs
    for (;;) {
      const at = this.#frames.findIndex(
        (frame) =>
          (event ?? frame.event) === frame.event &&
          (execution_id ?? frame.execution_id) === frame.execution_id,
      )
      const [frame] = at < 0 ? [] : this.#frames.splice(at, 1)
      if (frame) return frame
      const left = until - performance.now()
      if (left <= 0) throw new Error(await this.#describeMissing(event, execution_id))
      await this.#nextArrival(left)
    }
  }

  async #describeMissing(event = 'frame', execution_id?: string): Promise<string> {
    const stream = this.#stream?.ended === false ? 'open' : 'closed'
    const missing = `${this.name} received no ${event} of ${execution_id ?? 'any execution'}`
    const state = execution_id && (await this.#options.describeWait?.(execution_id))
    return `${missing}; its stream is ${stream}${state ? `\n${state}` : ''}`
  }

  post(
    route: string,
    sent: RequestOptions = {},
    { url = this.#options.url, ...way }: CallTarget = {},
  ) {
    const headers = { ...this.#headers(way), ...sent.headers }
    return call('POST', `${url}/workers/${this.name}/${route}`, { ...sent, headers })
  }

  get(route: string, headers: Record<string, string> = {}): Promise<HttpResponse> {
    const path = `${this.#options.url}/workers/${this.name}/${route}`
    return call('GET', path, { headers: { ...this.#headers(), ...headers } })
  }

  claim(execution_id: string, way?: CallTarget): Promise<HttpResponse> {
    return this.post(`claim/${execution_id}`, {}, way)
  }

  /** Claims an execution. Returns the claim generation. */
  async claimGeneration(execution_id: string, way?: CallTarget): Promise<number> {
    const { status, text, headers } = await this.claim(execution_id, way)
    if (status !== 200) throw new Error(`claim: ${status} ${text}`)
    return Number(headers[GENERATION])
  }

  /** Waits for the frame of an execution and claims it. Returns the claim generation. */
  async awaitAndClaim(execution_id: string, event = 'execution_scheduled'): Promise<number> {
    await this.nextFrame(event, execution_id)
    return this.claimGeneration(execution_id)
  }

  checkpoint(
    execution_id: string,
    report: CheckpointReport,
    way?: CallTarget,
  ): Promise<HttpResponse> {
    const sent = {
      body: checkpointBody(execution_id, report),
      headers: claimHeaders(report.generation),
    }
    return this.post(`checkpoint/${execution_id}`, sent, way)
  }

  release(execution_id: string, generation?: number, way?: CallTarget): Promise<HttpResponse> {
    return this.post(`release/${execution_id}`, { headers: claimHeaders(generation) }, way)
  }

  /** Completes a claimed execution with an output of JSON text. */
  complete(execution_id: string, generation?: number, output = '"done"', way?: CallTarget) {
    const events = [{ type: 'WORKFLOW_COMPLETED', value: output }]
    return this.checkpoint(execution_id, { state: 'COMPLETED', events, output, generation }, way)
  }

  /** Pauses a claimed execution at a task with this id. */
  pause(execution_id: string, generation?: number, task = 'pause_1'): Promise<HttpResponse> {
    const events = [
      { type: 'TASK_STARTED', source_id: task },
      { type: 'TASK_PAUSED', source_id: task, value: '"gate"' },
      { type: 'WORKFLOW_PAUSED', value: '{"name":"gate","output":null}' },
    ]
    return this.checkpoint(execution_id, { state: 'PAUSED', events, generation })
  }

  #headers({ token = this.token }: CallTarget = {}): Record<string, string> {
    return token === '' ? {} : { authorization: `Bearer ${token}` }
  }

  #onFrame({ event, id, data: text }: EventFrame): void {
    if (event === 'ping') {
      const sent = { body: JSON.stringify({ healthy: this.isHealthy }) }
      if (this.answersPings) this.post('pong', sent).catch(() => {})
      return
    }
    const data = JSON.parse(text)
    const { execution_id } = data.context
    this.#frames.push({ event, id, execution_id, data, text, receivedMs: performance.now() })
    for (const look of this.#waiting) look()
  }

  /** Resolves at the next frame or at the timeout. */
  async #nextArrival(timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = () => {
        clearTimeout(late)
        this.#waiting.delete(look)
        resolve()
      }
      const late = setTimeout(look, timeoutMs)
      this.#waiting.add(look)
    })
  }
}

const claimHeaders = (generation: number | string | undefined): Record<string, string> =>
  generation === undefined ? {} : { [GENERATION]: String(generation) }
