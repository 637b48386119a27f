import type { ServerSentEvent } from '@windlass/api-client/event-stream'

/** Lists that the server streams. */
export const TOPICS = ['executions', 'workers', 'schedules', 'approvals'] as const
export type Topic = (typeof TOPICS)[number]

/** An event of the stream of lists. */
export type ListEvent =
  /** A row as it is now; null if it is no longer in the list. Lists without revisions have null. */
  | { kind: 'row'; topic: Topic; id: string; revision: number | null; row: unknown }
  /** Rows that changed and were left out. */
  | { kind: 'skipped'; topic: Topic; rows: number }
  /** Changes may be missing: the list must be read. */
  | { kind: 'resync'; topic: Topic }

/** True if there were more changes than are sent. */
export const areSkipped = (events: readonly ListEvent[]): boolean =>
  events.some(({ kind }) => kind === 'skipped')

const isTopic = (name: unknown): name is Topic => TOPICS.includes(name as Topic)

/** Every list is to be read again. */
export const ALL_LOST: ListEvent[] = TOPICS.map((topic) => ({ kind: 'resync', topic }))

/** Events of one frame; a frame that is garbled may have been any change. */
export function toListEvents({ event, data }: ServerSentEvent): readonly ListEvent[] {
  if (event === 'ready') return []
  // What is shown may be more than the caller may see now.
  if (event === 'access_denied') return ALL_LOST
  const members = parse(data)
  if (!members) return ALL_LOST
  const { topic, rows, id, revision, row } = members
  if (event === 'resync') return isTopic(topic) ? [{ kind: 'resync', topic }] : ALL_LOST
  if (event === 'skipped')
    return isTopic(topic) && typeof rows === 'number'
      ? [{ kind: 'skipped', topic, rows }]
      : ALL_LOST
  // Frames of a later release.
  if (!isTopic(event)) return []
  if (typeof id !== 'string') return ALL_LOST
  return [{ kind: 'row', topic: event, id, revision: revision as number | null, row }]
}

function parse(data: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Topics that a caller may follow: the server refuses a stream of which one topic is forbidden. */
export function topicsFor(permissions: readonly string[]): Topic[] {
  const mayReadSome = (kind: string) =>
    permissions.some((granted) => {
      const [first, ...rest] = granted.split(':')
      const last = rest.at(-1) ?? first
      return (first === kind || first === '*') && (last === '*' || last === 'read')
    })
  const needed: Record<Topic, string | undefined> = {
    executions: 'execution',
    workers: undefined,
    schedules: 'schedule',
    approvals: 'workflow',
  }
  return TOPICS.filter((topic) => {
    const kind = needed[topic]
    return kind === undefined || mayReadSome(kind)
  })
}
