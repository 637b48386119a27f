import { createHash } from 'node:crypto'
import { unavailable } from '@windlass/runtime/faults'
import { type Redis, runRepeatable } from '@windlass/runtime/redis/redis'

/**
 * Below `console:`, because the gateway's Redis user may already use this prefix; another prefix would need
 * a change of its rights.
 */
const PREFIX = 'console:bulk:'
const KEPT_MS = 86_400_000
/** A running act writes its progress after each chunk, which takes seconds. */
const SILENT_MS = 60_000

/** Progress of a bulk act, as of its last chunk. */
export interface BulkRecord {
  id: string
  action: 'cancel' | 'resume' | 'rerun' | 'fork'
  state: 'running' | 'ended' | 'interrupted'
  total: number
  done: number
  failed: number
  /** True if it ended before all were done: the gateway was stopped, or the caller lost its rights. */
  stopped: boolean
  started_at: string
  updated_at: string
  /** The first refusals. */
  failures: { execution_id: string; reason: string }[]
}

interface Owner {
  subject: string
  issuer?: string | undefined
}

/**
 * Progress of bulk acts for a day, readable by the caller that began each. It is lost with Redis; the audit
 * log keeps the result.
 */
export class BulkProgress {
  readonly #redis: Redis
  readonly #now: () => number

  constructor(redis: Redis, now = Date.now) {
    this.#redis = redis
    this.#now = now
  }

  /** Stores the progress; a store that is unavailable does not stop the act. */
  async save(owner: Owner, record: BulkRecord): Promise<void> {
    const text = JSON.stringify(record)
    const write = () => this.#redis.set(keyOf(owner, record.id), text, 'PX', KEPT_MS)
    await runRepeatable(this.#redis, write).catch(() => {})
  }

  /** Reads the progress of an act of this owner. Throws `unavailable` without Redis. */
  async read(owner: Owner, id: string): Promise<BulkRecord | undefined> {
    const key = keyOf(owner, id)
    const text = await runRepeatable(this.#redis, () => this.#redis.get(key)).catch(() => {
      throw unavailable('the progress cannot be read: Redis is unavailable; retry')
    })
    if (!text) return undefined
    const record = JSON.parse(text) as BulkRecord
    const isSilent = this.#now() - Date.parse(record.updated_at) > SILENT_MS
    return record.state === 'running' && isSilent ? { ...record, state: 'interrupted' } : record
  }
}

/** Contains the owner, so that an id gives no access to the act of another caller. */
function keyOf({ issuer = '', subject }: Owner, id: string): string {
  const owner = JSON.stringify([issuer, subject, id])
  return PREFIX + createHash('sha256').update(owner).digest('base64url')
}
