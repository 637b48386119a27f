import { isTerminal } from '@windlass/domain/states'
/** Facts about the wait of an execution. Times are RFC 3339. */
export interface Wait {
  state: string
  /** From 1; 0 if it is not queued. */
  queue_position: number
  /** Name of the worker that has it; empty for none. */
  held_by: string
  deadline_at: string | null
  /** True if it waits outside of the queue, until `deadline_at` or until one of `wakes_on` ends. */
  parked: boolean
  /** Executions whose end wakes it. */
  wakes_on: readonly string[]
  /** Tasks with a pending approval. */
  gates: readonly string[]
  /** Worker that lost it after it was cancelled; empty for none. */
  handed_over_by: string
  /** Calls of compensations that the end of the cancel has left undone. */
  undone: readonly string[]
  /** Its requirement, in words. */
  needs: readonly string[]
}

/** A worker compared with this requirement. */
export interface Place {
  name: string
  status: string
  /** Every part of the requirement that the worker does not meet, in words. */
  lacking: readonly string[]
  /** 0: unlimited. */
  capacity: number
  /** Number of executions that the worker has. */
  used: number
}

export interface Explanation {
  reason: string
  /** The smallest change that would let it start; null if no change is needed. */
  suggestion: string | null
}

export const isEligible = ({ status, lacking }: Pick<Place, 'status' | 'lacking'>): boolean =>
  status === 'online' && lacking.length === 0

/**
 * Returns the first reason why a worker does not take the execution now, in words; undefined if it would
 * take it.
 */
export function unmet(place: Place): string | undefined {
  const { status, lacking, used, capacity } = place
  if (lacking[0] !== undefined) return lacking[0]
  if (status === 'offline') return 'a connection'
  if (status !== 'online') return 'good health'
  return hasFreeSlot(place) ? undefined : `a free slot: it holds ${used} of ${capacity}`
}

/** Explains why an execution does not run, with the smallest change that would let it start. */
export function explain(wait: Wait, places: readonly Place[]): Explanation {
  if (isTerminal(wait.state)) return because(`it has ended: ${wait.state}${leftUndone(wait)}`)
  if (wait.state === 'PAUSED') return explainPaused(wait)
  if (wait.parked) return because(parkedReason(wait))
  if (wait.handed_over_by !== '') return explainHandedOver(wait)
  if (wait.held_by !== '') return explainHeld(wait, places)
  if (wait.queue_position > 0) return explainQueued(wait, places)
  return because('it is changing its state; retry')
}

const because = (reason: string, suggestion: string | null = null): Explanation => ({
  reason,
  suggestion,
})

function explainPaused({ gates }: Wait): Explanation {
  if (gates.length === 0) return because('it is paused until it is resumed', 'a resume')
  const tasks = gates.map((task) => `'${task}'`).join(', ')
  return because(
    `it waits for approval of ${tasks}`,
    `an approval or rejection of '${gates[0]}': POST /executions/{id}/approvals/{call}/approve or …/reject`,
  )
}

function parkedReason({ deadline_at, wakes_on }: Wait): string {
  const [first, ...others] = wakes_on
  const more = others.length === 0 ? '' : ` or ${others.length} others`
  const ends = first === undefined ? [] : [`for the end of execution ${first}${more}`]
  const times = deadline_at === null ? [] : [`until ${deadline_at}`]
  return `its workflow waits ${[...times, ...ends].join(', or ')}; it needs no worker meanwhile`
}

function leftUndone({ undone }: Wait): string {
  if (undone.length === 0) return ''
  const calls = undone.slice(0, 3).map((call) => `'${call}'`)
  const more = undone.length > 3 ? [`${undone.length - 3} more`] : []
  return `, and compensations have no outcome: ${listed([...calls, ...more])}`
}

function explainHandedOver({ held_by, handed_over_by, deadline_at }: Wait): Explanation {
  const until = deadline_at === null ? '' : `, until ${deadline_at}`
  const lost = `worker '${handed_over_by}' lost it after it was cancelled`
  if (held_by !== '')
    return because(`${lost}; worker '${held_by}' continues its compensations${until}`)
  return because(
    `${lost}; it waits for a worker that continues its compensations${until}, and is then CANCELLED`,
    'a worker that can run it, with the feature continue_cancelled and a free slot',
  )
}

function explainHeld({ state, held_by, deadline_at }: Wait, places: readonly Place[]): Explanation {
  const until = deadline_at === null ? '' : `, until ${deadline_at}`
  const isThere = places.some(({ name, status }) => name === held_by && status !== 'offline')
  if (!isThere)
    return because(
      `worker '${held_by}' has it but is not connected; it returns to the queue when the worker is evicted`,
      `'${held_by}' to connect again`,
    )
  if (state === 'CANCELLING')
    return because(`worker '${held_by}' was asked to cancel it and has time to confirm${until}`)
  if (state.endsWith('SCHEDULED'))
    return because(`it is leased to worker '${held_by}', which has time to claim it${until}`)
  return because(`it is not waiting: worker '${held_by}' has claimed it`)
}

function explainQueued({ queue_position, needs }: Wait, places: readonly Place[]): Explanation {
  const eligible = places.filter(isEligible)
  if (eligible.some(hasFreeSlot))
    return because(
      `it waits for its turn: number ${queue_position} in the queue, and a worker has a free slot`,
    )
  const [freest] = [...eligible].sort((a, b) => b.capacity - b.used - (a.capacity - a.used))
  if (freest)
    return because(
      `it is number ${queue_position} in the queue, and every worker that can run it is full`,
      `${slots(queue_position)} on '${freest.name}', which holds ${freest.used} of ${freest.capacity}`,
    )
  const connected = places.filter(({ status }) => status !== 'offline').length
  const reason =
    connected === 0
      ? 'no worker is connected'
      : connected === 1
        ? 'the one connected worker cannot run it'
        : `none of the ${connected} connected workers can run it`
  return because(reason, remedy(needs, places))
}

const hasFreeSlot = ({ capacity, used }: Place) => capacity === 0 || used < capacity

/**
 * Orders workers by what would have to change: first those that only lack availability, then by the number
 * of unmet parts.
 */
function remedy(needs: readonly string[], places: readonly Place[]): string {
  const [nearest] = [...places].sort((a, b) => costOf(a) - costOf(b))
  if (!nearest) return needs.length === 0 ? 'a worker' : `a worker with ${listed(needs)}`
  const { name, status, lacking } = nearest
  if (lacking.length > 0) return `a worker with ${listed(lacking)}, else like '${name}'`
  return status === 'unhealthy'
    ? `'${name}' to report that it is healthy again`
    : `'${name}' to connect again`
}

const STATUS_COST: Partial<Record<string, number>> = { online: 0, unhealthy: 1, offline: 2 }

const costOf = ({ status, lacking }: Place): number =>
  lacking.length * 3 + (STATUS_COST[status] ?? 3)

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

const slots = (number: number) => `${number} more free ${number === 1 ? 'slot' : 'slots'}`
