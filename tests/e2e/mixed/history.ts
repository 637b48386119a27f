import type { Answer } from '@windlass/testkit/http'

/** What somebody asked for, and of whom. */
export type Asked =
  | { what: 'run'; marker: number }
  | { what: 'cancel'; id: string }
  | { what: 'approve'; id: string }
  | { what: 'resume'; id: string; body: string }
  | { what: 'read'; id: string }
  | { what: 'claim'; id: string; worker: string }
  | { what: 'report'; id: string; worker: string; generation: number; events: string[] }

/** One call and its answer. Times are of one clock; status 0: nobody knows whether it happened. */
export type Op = Asked & { sent: number; heard: number; status: number; told: Told }

/** What an answer said, as far as it matters. */
interface Told {
  id?: string
  state?: string
  /** How many events the log had. */
  events?: number
  generation?: number
}

/** All that clients and workers of a run asked, and what they were told. */
export class History {
  readonly ops: Op[] = []

  /** Makes a call and records it. Undefined: no answer came, or one that promises nothing. */
  async ask(asked: Asked, call: () => Promise<Answer>): Promise<Answer | undefined> {
    const sent = performance.now()
    const answer = await call().catch(() => undefined)
    const status = answer && answer.status < 500 ? answer.status : 0
    const told = status === 200 && answer ? toldBy(answer) : {}
    this.ops.push({ ...asked, sent, heard: performance.now(), status, told })
    return status === 0 ? undefined : answer
  }
}

const toldBy = ({ json, headers }: Answer): Told => ({
  id: json?.execution_id,
  state: json?.state,
  events: json?.events?.length,
  generation: Number(headers['x-svc-claim-generation'] ?? Number.NaN),
})

export interface Logged {
  id: string
  type: string
  source_id: string
  value: unknown
}

/** An execution as it is in the end. */
export interface Ended {
  id: string
  marker: number
  state: string
  output: unknown
  events: Logged[]
  /** Why it does not run, where it has not ended. */
  reason: string
}

export interface Run {
  ops: readonly Op[]
  /** By id, as one gateway shows them. */
  ended: ReadonlyMap<string, Ended>
  /** The ids that each gateway lists. */
  lists: readonly (readonly string[])[]
}
