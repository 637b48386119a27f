import type { LogEvent } from '../exact/execution.ts'

export type CallState = 'running' | 'completed' | 'failed' | 'paused' | 'awaiting' | 'rejected'

/** One call of a task. Times are milliseconds since 1970. */
export interface Call {
  /** `source_id` of its entries. */
  id: string
  name: string
  from: number
  /** Undefined while it runs. */
  to: number | undefined
  state: CallState
  /** Retries, fallbacks and rollbacks, in words and in their order. */
  tries: Mark[]
}

interface Mark {
  at: number
  what: 'retry' | 'fallback' | 'rollback'
  ok: boolean | undefined
}

const STATE_AFTER: Record<string, CallState | undefined> = {
  TASK_STARTED: 'running',
  TASK_COMPLETED: 'completed',
  TASK_FAILED: 'failed',
  TASK_PAUSED: 'paused',
  TASK_RESUMED: 'running',
  TASK_AWAITING_APPROVAL: 'awaiting',
  TASK_APPROVED: 'running',
  TASK_REJECTED: 'rejected',
}

const CLOSED = new Set<CallState>(['completed', 'failed', 'rejected'])

const MARK = /^TASK_(RETRY|FALLBACK|ROLLBACK)_(STARTED|COMPLETED|FAILED)$/

/** Calls of a log in the order in which they began. */
export function callsOf(events: readonly LogEvent[]): Call[] {
  const calls = new Map<string, Call>()
  for (const event of events) {
    if (!event.type.startsWith('TASK_')) continue
    const call = calls.get(event.source) ?? begin(event)
    calls.set(event.source, call)
    apply(call, event)
  }
  return [...calls.values()]
}

const begin = ({ source, name, time }: LogEvent): Call => ({
  ...{ id: source, name, from: time, to: undefined },
  ...{ state: 'running', tries: [] },
})

function apply(call: Call, { type, time }: LogEvent): void {
  const state = STATE_AFTER[type]
  if (state) {
    call.state = state
    call.to = CLOSED.has(state) ? time : undefined
    return
  }
  const [, what = '', end] = MARK.exec(type) ?? []
  if (what === '') return
  const kind = what.toLowerCase() as Mark['what']
  // The failure of the first try is the first entry about retries, without a start of its own.
  if (end === 'STARTED') call.tries.push({ at: time, what: kind, ok: undefined })
  else {
    const open = call.tries.findLast((mark) => mark.what === kind && mark.ok === undefined)
    if (open) open.ok = end === 'COMPLETED'
  }
}
