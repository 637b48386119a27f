import type { HttpResponse } from '@windlass/testkit/http'

/** A call of a client or worker, with its parameters. */
export type CallSpec =
  | { what: 'run'; marker: number }
  | { what: 'cancel'; id: string }
  | { what: 'approve'; id: string }
  | { what: 'resume'; id: string; body: string }
  | { what: 'read'; id: string }
  | { what: 'claim'; id: string; worker: string }
  | { what: 'report'; id: string; worker: string; generation: number; events: string[] }

/** One call and its response. Times are of one clock; status 0: the outcome is unknown. */
export type RecordedCall = CallSpec & {
  sent: number
  received: number
  status: number
  result: CallResult
}

/** The parts of a response that the checker compares. */
interface CallResult {
  id?: string
  state?: string
  /** Length of the event log. */
  events?: number
  generation?: number
  /** Number of the attempt, in the answer to a claim. */
  attempt?: number
}

/** A dispatch frame that a worker has taken. */
export interface RecordedFrame {
  id: string
  worker: string
  generation: number
  /** Time of receipt, of the clock of the calls. */
  received: number
  /** True: the first checkpoint may be the claim. */
  isDelivered: boolean
  /** Length of the event log in the frame. */
  events: number
}

/** Records all calls of clients and workers in a run, with their responses. */
export class History {
  readonly ops: RecordedCall[] = []
  readonly frames: RecordedFrame[] = []

  /** Makes a call and records it. Returns undefined without a response or for a 5xx. */
  async ask(asked: CallSpec, call: () => Promise<HttpResponse>): Promise<HttpResponse | undefined> {
    const sent = performance.now()
    const answer = await call().catch(() => undefined)
    const status = answer && answer.status < 500 ? answer.status : 0
    const result = status === 200 && answer ? resultOf(answer) : {}
    this.ops.push({ ...asked, sent, received: performance.now(), status, result })
    return status === 0 ? undefined : answer
  }
}

const resultOf = ({ json, headers }: HttpResponse): CallResult => ({
  id: json?.execution_id,
  state: json?.state,
  events: json?.events?.length,
  generation: Number(headers['x-svc-claim-generation'] ?? Number.NaN),
  attempt: Number(headers['x-svc-attempt'] ?? Number.NaN),
})

export interface LogEntry {
  id: string
  type: string
  source_id: string
  value: unknown
}

/** An execution at the end of the run. */
export interface FinalExecution {
  id: string
  marker: number
  state: string
  output: unknown
  events: LogEntry[]
  /** The reason why it does not run, if it is not terminal. */
  reason: string
}

export interface Run {
  ops: readonly RecordedCall[]
  frames: readonly RecordedFrame[]
  /** Executions by id, from one gateway. */
  ended: ReadonlyMap<string, FinalExecution>
  /** Ids in the list of each gateway. */
  lists: readonly (readonly string[])[]
}
