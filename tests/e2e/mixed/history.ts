import type { HttpResponse } from '@windlass/testkit/http'

/** What somebody asked for, and of whom. */
export type CallSpec =
  | { what: 'run'; marker: number }
  | { what: 'cancel'; id: string }
  | { what: 'approve'; id: string }
  | { what: 'resume'; id: string; body: string }
  | { what: 'read'; id: string }
  | { what: 'claim'; id: string; worker: string }
  | { what: 'report'; id: string; worker: string; generation: number; events: string[] }

/** One call and its answer. Times are of one clock; status 0: nobody knows whether it happened. */
export type RecordedCall = CallSpec & {
  sent: number
  received: number
  status: number
  result: CallResult
}

/** What an answer said, as far as it matters. */
interface CallResult {
  id?: string
  state?: string
  /** How many events the log had. */
  events?: number
  generation?: number
}

/** All that clients and workers of a run asked, and what they were answered. */
export class History {
  readonly ops: RecordedCall[] = []

  /** Makes a call and records it. Undefined: no answer came, or one that promises nothing. */
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
})

export interface LogEntry {
  id: string
  type: string
  source_id: string
  value: unknown
}

/** An execution as it is in the end. */
export interface FinalExecution {
  id: string
  marker: number
  state: string
  output: unknown
  events: LogEntry[]
  /** Why it does not run, where it has not ended. */
  reason: string
}

export interface Run {
  ops: readonly RecordedCall[]
  /** By id, as one gateway shows them. */
  ended: ReadonlyMap<string, FinalExecution>
  /** The ids that each gateway lists. */
  lists: readonly (readonly string[])[]
}
