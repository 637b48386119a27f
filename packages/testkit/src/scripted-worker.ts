import { randomBytes } from 'node:crypto'
import { type Answer, call, type EventFrame, type Events, openEvents, type Sent } from './http.ts'
import { record } from './worker-record.ts'

const GENERATION = 'x-svc-claim-generation'
const FRAME_MS = 60_000

export interface ScriptedOptions {
  /** Base URL of the gateway, or of what stands before several. */
  url: string
  bootstrap: string
  name?: string
  labels?: Record<string, string>
  /** How many executions it takes at once; 0: any number. */
  capacity?: number
  packages?: { name: string; version: string }[]
}

/** An event as workers send it; what is left out has a value that fits. */
export interface Told {
  id?: string
  type: string
  source_id?: string
  name?: string
  /** JSON text. */
  value?: string
  time?: string
}

export interface Report {
  state: string
  events?: readonly Told[]
  /** JSON text. */
  output?: string
  generation?: number | string
  /** Which execution the body names; that of the path unless said. */
  body_id?: string
}

/** Where a call goes, and as whom, when it is not as usual. */
export interface Way {
  url?: string
  token?: string | undefined
}

/** A frame that the worker was sent. */
export interface Dispatched {
  event: string
  /** The frame's own id: the same for the same work under the same generation. */
  id: string
  execution_id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they expect.
  data: any
  /** The data as they came. */
  text: string
}

/**
 * A worker that runs nothing and does what a test tells it, over the real protocol: it registers,
 * connects, answers pings, and keeps the frames that it is sent until the test takes them.
 */
export class ScriptedWorker {
  readonly name: string
  token = ''
  /** Whether it answers pings; a worker that does not is a hanging one. */
  answersPings = true
  /** What its pongs say. */
  isHealthy = true
  readonly #options: ScriptedOptions
  #stream: Events | undefined
  #frames: Dispatched[] = []
  readonly #waiting = new Set<() => void>()

  constructor(options: ScriptedOptions) {
    this.#options = options
    this.name = options.name ?? `scripted-${randomBytes(4).toString('hex')}`
  }

  /** Registers and connects. */
  async start(way: Way = {}): Promise<this> {
    const { status, text } = await this.register(way)
    if (status !== 200) throw new Error(`register: ${status} ${text}`)
    await this.connect(way)
    return this
  }

  async register({ url = this.#options.url }: Way = {}): Promise<Answer> {
    const { bootstrap } = this.#options
    const answer = await call('POST', `${url}/workers/register`, {
      body: JSON.stringify(record(this.name, this.#options)),
      headers: { authorization: `Bearer ${bootstrap}`, 'x-svc-session': this.token },
    })
    this.token = answer.json?.session_token ?? this.token
    return answer
  }

  async connect({ url = this.#options.url }: Way = {}): Promise<Events> {
    const path = `${url}/workers/${this.name}/connect`
    const stream = await openEvents(path, this.#as(), (frame) => this.#hear(frame))
    if (stream.status !== 200) throw new Error(`connect: ${stream.status}`)
    this.#stream = stream
    return stream
  }

  get stream(): Events {
    if (!this.#stream) throw new Error(`${this.name} has no stream`)
    return this.#stream
  }

  close(): void {
    this.#stream?.close()
  }

  /** Hangs as a stopped process does: takes nothing and answers nothing. */
  hang(): void {
    this.answersPings = false
    this.stream.stall()
  }

  /** Every frame that was not taken yet. */
  get frames(): readonly Dispatched[] {
    return this.#frames
  }

  /** Takes the next frame, of one event and one execution where they are given; waits for it. */
  async next(event?: string, execution_id?: string, patienceMs = FRAME_MS): Promise<Dispatched> {
    const until = performance.now() + patienceMs
    for (;;) {
      const at = this.#frames.findIndex(
        (frame) =>
          (event ?? frame.event) === frame.event &&
          (execution_id ?? frame.execution_id) === frame.execution_id,
      )
      const [frame] = at < 0 ? [] : this.#frames.splice(at, 1)
      if (frame) return frame
      const left = until - performance.now()
      if (left <= 0) throw new Error(`${this.name} was not sent ${event} of ${execution_id}`)
      await this.#news(left)
    }
  }

  post(route: string, sent: Sent = {}, { url = this.#options.url, ...way }: Way = {}) {
    const headers = { ...this.#as(way), ...sent.headers }
    return call('POST', `${url}/workers/${this.name}/${route}`, { ...sent, headers })
  }

  get(route: string, headers: Record<string, string> = {}): Promise<Answer> {
    const path = `${this.#options.url}/workers/${this.name}/${route}`
    return call('GET', path, { headers: { ...this.#as(), ...headers } })
  }

  claim(execution_id: string, way?: Way): Promise<Answer> {
    return this.post(`claim/${execution_id}`, {}, way)
  }

  /** Claims, and answers the generation that the claim gave. */
  async claimed(execution_id: string, way?: Way): Promise<number> {
    const { status, text, headers } = await this.claim(execution_id, way)
    if (status !== 200) throw new Error(`claim: ${status} ${text}`)
    return Number(headers[GENERATION])
  }

  /** Waits for the frame of an execution and claims it; answers the generation. */
  async take(execution_id: string, event = 'execution_scheduled'): Promise<number> {
    await this.next(event, execution_id)
    return this.claimed(execution_id)
  }

  checkpoint(execution_id: string, report: Report, way?: Way): Promise<Answer> {
    const sent = { body: checkpointBody(execution_id, report), headers: fence(report.generation) }
    return this.post(`checkpoint/${execution_id}`, sent, way)
  }

  release(execution_id: string, generation?: number, way?: Way): Promise<Answer> {
    return this.post(`release/${execution_id}`, { headers: fence(generation) }, way)
  }

  /** Ends what it holds with an output of JSON text. */
  complete(execution_id: string, generation?: number, output = '"done"', way?: Way) {
    const events = [{ type: 'WORKFLOW_COMPLETED', value: output }]
    return this.checkpoint(execution_id, { state: 'COMPLETED', events, output, generation }, way)
  }

  /** Pauses what it holds, at a task of this id. */
  pause(execution_id: string, generation?: number, task = 'pause_1'): Promise<Answer> {
    const events = [
      { type: 'TASK_STARTED', source_id: task },
      { type: 'TASK_PAUSED', source_id: task, value: '"gate"' },
      { type: 'WORKFLOW_PAUSED', value: '{"name":"gate","output":null}' },
    ]
    return this.checkpoint(execution_id, { state: 'PAUSED', events, generation })
  }

  #as({ token = this.token }: Way = {}): Record<string, string> {
    return token === '' ? {} : { authorization: `Bearer ${token}` }
  }

  #hear({ event, id, data: text }: EventFrame): void {
    if (event === 'ping') {
      const sent = { body: JSON.stringify({ healthy: this.isHealthy }) }
      if (this.answersPings) this.post('pong', sent).catch(() => {})
      return
    }
    const data = JSON.parse(text)
    this.#frames.push({ event, id, execution_id: data.context.execution_id, data, text })
    for (const look of this.#waiting) look()
  }

  /** Resolves at the next frame, or when the patience ends. */
  async #news(patienceMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = () => {
        clearTimeout(late)
        this.#waiting.delete(look)
        resolve()
      }
      const late = setTimeout(look, patienceMs)
      this.#waiting.add(look)
    })
  }
}

const fence = (generation: number | string | undefined): Record<string, string> =>
  generation === undefined ? {} : { [GENERATION]: String(generation) }

/** A checkpoint's body as the workers of the protocol write it. */
export function checkpointBody(execution_id: string, { state, events = [], ...rest }: Report) {
  const { output = 'null', body_id = execution_id } = rest
  const told = events.map(eventText).join(',')
  return (
    `{"workflow_id":"w","workflow_namespace":"default","workflow_name":"scripted",` +
    `"execution_id":"${body_id}","input":null,"output":${output},"state":"${state}",` +
    `"current_worker":"","events":[${told}]}`
  )
}

function eventText({ id = eventId(), type, value = 'null', ...rest }: Told): string {
  const { source_id = 'scripted', name = 'scripted', time = '2026-01-02T03:04:05.000006' } = rest
  const text = JSON.stringify({ id, type, source_id, name, time, subject: null })
  return `${text.slice(0, -1)},"value":${value}}`
}

/** Sixteen hex digits, as workers make them. */
export const eventId = () => randomBytes(8).toString('hex')
