/*
 * Bounds the audit entries of refused requests: any caller with a credential can be refused as often as
 * it likes, and every entry locks the head of the chain and is kept.
 *
 * Entries of one principal, action and outcome within a minute are a group. The first SINGLES of a
 * group are recorded at once; the others are counted and recorded as one entry when the minute is over,
 * with their number and up to MAX_OBJECTS of their objects. Entries of all groups together are bounded
 * by a token bucket; an entry for which it has no token is counted too.
 */
import { detailOf } from '@windlass/domain/audit'
import type { AuditEntry } from './audit-entry.ts'

const WINDOW_MS = 60_000
const SINGLES = 5
const MAX_GROUPS = 1_000
const MAX_OBJECTS = 10
const PER_SECOND = 20
const BURST = 100

interface Group {
  since_ms: number
  singles: number
  /** Entries that were counted and not recorded. */
  repeated: number
  objects: Set<string>
  last: AuditEntry
}

export class RefusalAggregator {
  /** In the order in which their windows began. */
  readonly #groups = new Map<string, Group>()
  readonly #now: () => number
  #tokens = BURST
  #refilledAt: number
  #dropped = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
    this.#refilledAt = now()
  }

  /** Returns true if the entry is to be recorded now; counts it otherwise. */
  admit(entry: AuditEntry): boolean {
    const { caller, action, outcome } = entry
    const key = JSON.stringify([caller.subject, caller.issuer, caller.key_prefix, action, outcome])
    const group = this.#groups.get(key) ?? this.#open(key, entry)
    if (group.singles < SINGLES && this.#take()) {
      group.singles++
      return true
    }
    group.repeated++
    group.last = entry
    if (group.objects.size < MAX_OBJECTS) group.objects.add(entry.object)
    return false
  }

  /** Returns summaries of the groups whose minute is over; of all groups if `isLast`. */
  takeSummaries(isLast = false): AuditEntry[] {
    const summaries: AuditEntry[] = []
    for (const [key, group] of this.#groups) {
      if (!isLast && this.#now() - group.since_ms < WINDOW_MS) break
      if (group.repeated > 0 && !isLast && !this.#take()) break
      this.#groups.delete(key)
      if (group.repeated > 0) summaries.push(summaryOf(group))
    }
    return summaries
  }

  /** Returns the number of entries that were dropped since the last call, because too many groups were open. */
  takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }

  #open(key: string, entry: AuditEntry): Group {
    const [oldest] = this.#groups
    if (this.#groups.size >= MAX_GROUPS && oldest) {
      this.#groups.delete(oldest[0])
      this.#dropped += oldest[1].repeated
    }
    const since_ms = this.#now()
    const group = { since_ms, singles: 0, repeated: 0, objects: new Set<string>(), last: entry }
    this.#groups.set(key, group)
    return group
  }

  #take(): boolean {
    const elapsed_s = Math.max(0, this.#now() - this.#refilledAt) / 1_000
    this.#tokens = Math.min(BURST, this.#tokens + elapsed_s * PER_SECOND)
    this.#refilledAt = this.#now()
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}

/** The last entry of a group: for its object if it has only one, else for the kind of object. */
function summaryOf({ last, repeated, objects, since_ms }: Group): AuditEntry {
  const [kind = ''] = last.object.split(':', 1)
  const detail = {
    ...JSON.parse(last.detail_json),
    repeated,
    since: new Date(since_ms).toISOString(),
    objects: [...objects],
  }
  return { ...last, object: objects.size === 1 ? last.object : kind, detail_json: detailOf(detail) }
}
