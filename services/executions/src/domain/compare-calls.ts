import { CALL_CHANGES, type CallState, ENDED } from './timeline-calls.ts'

/** An entry of a log with the digest of its value. */
export interface DigestedEntry {
  seq: number
  type: string
  source_id: string
  name: string
  time: string
  digest: string
}

/** A call in one of two logs. */
export interface ComparedCall {
  call_id: string
  name: string
  seq: number
  last_seq: number
  state: CallState
  /** Milliseconds; absent while it has no end. */
  duration_ms?: number
  /** Digest of its last result. */
  digest?: string
}

export interface CallsDifference {
  same: number
  different: number
  only_a: number
  only_b: number
  /** The first call, in log order, that is not in both logs with the same result. */
  first?: {
    kind: 'missing' | 'state' | 'result'
    a: ComparedCall | undefined
    b: ComparedCall | undefined
  }
}

const STATES: Record<string, CallState> = { ...CALL_CHANGES, TASK_FALLBACK_FAILED: 'failed' }

/** The calls of a log, by id, in the order of their first entries. */
export function callsOf(entries: readonly DigestedEntry[]): Map<string, ComparedCall> {
  const calls = new Map<string, ComparedCall & { start: number }>()
  for (const { seq, type, source_id, name, time, digest } of entries) {
    if (!type.startsWith('TASK_')) continue
    const at = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`)
    const started = { call_id: source_id, name, seq, last_seq: seq, start: at }
    const call = calls.get(source_id) ?? { ...started, state: 'running' as const }
    const state = STATES[type] ?? call.state
    const hasEnded = state !== call.state && ENDED.has(state)
    const end = hasEnded ? { duration_ms: Math.max(0, at - call.start) || 0, digest } : {}
    calls.set(source_id, { ...call, last_seq: seq, state, ...end })
  }
  return calls
}

/** Compares two logs by the ids of their calls: equal calls in equal places have equal ids. */
export function compareCalls(a: Calls, b: Calls): CallsDifference {
  const differences = [...differencesOf(a, b), ...missingIn(a, b)]
  const countOf = (is: (one: Difference) => boolean) => differences.filter(is).length
  const first = differences.reduce<Difference | undefined>(
    (best, one) => (best && best.place <= one.place ? best : one),
    undefined,
  )
  return {
    same: [...a.keys()].filter((id) => b.has(id)).length - countOf((one) => !!one.a && !!one.b),
    different: countOf((one) => !!one.a && !!one.b),
    only_a: countOf((one) => !one.b),
    only_b: countOf((one) => !one.a),
    first: first && { kind: first.kind, a: first.a, b: first.b },
  }
}

type Calls = ReadonlyMap<string, ComparedCall>
/** Includes the position of the call in its log. */
type Difference = NonNullable<CallsDifference['first']> & { place: number }

const differencesOf = (a: Calls, b: Calls): Difference[] =>
  [...a.values()].flatMap((one, place) => {
    const other = b.get(one.call_id)
    const kind = other ? differenceOf(one, other) : 'missing'
    return kind ? [{ kind, a: one, b: other, place }] : []
  })

const missingIn = (a: Calls, b: Calls): Difference[] =>
  [...b.values()].flatMap((other, place) =>
    a.has(other.call_id) ? [] : [{ kind: 'missing', a: undefined, b: other, place }],
  )

function differenceOf(a: ComparedCall, b: ComparedCall): 'state' | 'result' | undefined {
  if (a.state !== b.state) return 'state'
  return a.digest === b.digest ? undefined : 'result'
}
