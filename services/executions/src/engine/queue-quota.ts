import { setTimeout as sleep } from 'node:timers/promises'
import { quotaExceeded, quotaKeys } from '@windlass/domain/quota-exceeded'
import type { Settings } from '@windlass/runtime/config/settings'
import type { NewExecution } from '../store/executions.ts'
import type { QueueUsage } from '../store/queue-usage.ts'

/** The usage of other replicas is read at least this often while executions are created. */
const MAX_AGE_MS = 5_000
/** Longest time that a new execution waits for a new count; after that the last count decides. */
const MAX_WAIT_MS = 200
/** Counting takes at most this fraction of the time, above a quota and below it. */
const DUTY_ABOVE = 1 / 4
const DUTY_BELOW = 1 / 20

export interface QueueQuotaOptions {
  quotas: Settings['quotas']
  /** Counts the ready queue. */
  read(): Promise<QueueUsage[]>
  /** True if the execution exists: a repeated create is answered with it, however much is queued. */
  exists(execution_id: string): Promise<boolean>
  now?: () => number
}

type Name = 'queued_executions' | 'queued_bytes'
type Usage = Record<Name, number>

interface Limited {
  key: string
  name: Name
  limit: number
}

/**
 * Limits the queued executions, and the bytes of their inputs, of each principal and each namespace. Only
 * new executions are refused; an execution that is resumed or returns to the queue was admitted before. The
 * queue is in PostgreSQL, and its counts are taken from there: a counter in Redis would cost a write at
 * each lease and each return to the queue, and would drift after each crash. A replica adds what it has
 * admitted since the last count. It counts again in the background while executions are created, and also
 * before it refuses one, because the queue may have become shorter. With several replicas a quota may be
 * exceeded by what the others admit in MAX_AGE_MS.
 */
export class QueueQuota {
  readonly #quotas: Settings['quotas']
  readonly #read: QueueQuotaOptions['read']
  readonly #exists: QueueQuotaOptions['exists']
  readonly #now: () => number
  /** Result of the last count. */
  #counted = new Tally()
  /** Admitted since the last count began. */
  #recent = new Tally()
  /** Admitted and not known to be committed: a count may or may not include them. */
  readonly #inFlight = new Tally()
  #counting: Promise<void> | undefined
  #countedAt = Number.NEGATIVE_INFINITY
  #durationMs = 0

  constructor({ quotas, read, exists, now = () => performance.now() }: QueueQuotaOptions) {
    this.#quotas = quotas
    this.#read = read
    this.#exists = exists
    this.#now = now
  }

  /**
   * Counts a new execution; throws or rejects with `unavailable` above a quota. The caller calls the
   * returned function once the execution is committed or refused. Below the quotas the answer is immediate:
   * a command that follows the create in one request must not overtake it.
   */
  admit(row: NewExecution): (() => void) | Promise<() => void> {
    const holders = this.#limitedHolders(row)
    if (this.#findExcess(holders)) return this.#admitAfterCount(row, holders)
    if (holders.length > 0) this.#countIfOld()
    return this.#add(row, holders)
  }

  async #admitAfterCount(row: NewExecution, holders: readonly Limited[]): Promise<() => void> {
    await this.#countSoon()
    const excess = this.#findExcess(holders)
    if (!excess) return this.#add(row, holders)
    if (await this.#exists(row.execution_id)) return () => {}
    throw quotaExceeded(excess.name, excess.key, excess.limit)
  }

  #add({ input_json }: NewExecution, holders: readonly Limited[]): () => void {
    const used: Usage = { queued_executions: 1, queued_bytes: input_json.length }
    const keys = new Set(holders.map(({ key }) => key))
    for (const key of keys) {
      this.#recent.add(key, used)
      this.#inFlight.add(key, used)
    }
    return () => {
      for (const key of keys) this.#inFlight.subtract(key, used)
    }
  }

  #limitedHolders({ created_by_issuer, created_by, workflow_namespace }: NewExecution): Limited[] {
    const quotas = this.#quotas
    const principal = quotaKeys.principal(created_by_issuer, created_by)
    const namespace = quotaKeys.namespace(workflow_namespace)
    const holders: Limited[] = [
      { key: principal, name: 'queued_executions', limit: quotas.principal_queued_executions },
      { key: principal, name: 'queued_bytes', limit: quotas.principal_queued_bytes },
      { key: namespace, name: 'queued_executions', limit: quotas.namespace_queued_executions },
      { key: namespace, name: 'queued_bytes', limit: quotas.namespace_queued_bytes },
    ]
    return holders.filter(({ limit }) => limit > 0)
  }

  #findExcess(holders: readonly Limited[]): Limited | undefined {
    return holders.find(
      ({ key, name, limit }) => this.#counted.get(key)[name] + this.#recent.get(key)[name] >= limit,
    )
  }

  /** Never rejects: without a new count the last one decides. */
  async #countSoon(): Promise<void> {
    const waitMs = this.#countedAt + this.#durationMs / DUTY_ABOVE - this.#now()
    if (!this.#counting && waitMs > MAX_WAIT_MS) return
    await this.#startCount(waitMs)
  }

  #countIfOld(): void {
    const ageMs = this.#now() - this.#countedAt
    if (ageMs > Math.max(MAX_AGE_MS, this.#durationMs / DUTY_BELOW)) void this.#startCount(0)
  }

  #startCount(waitMs: number): Promise<void> {
    const start = async () => {
      if (waitMs > 0) await sleep(waitMs)
      await this.#count()
    }
    this.#counting ??= start().finally(() => {
      this.#counting = undefined
    })
    return this.#counting
  }

  async #count(): Promise<void> {
    const startedAt = this.#now()
    const uncertain = this.#inFlight.copy()
    const before = this.#recent
    this.#recent = new Tally()
    // Still counted until the new count is available.
    this.#counted.addAll(before)
    try {
      this.#counted = tallyOf(await this.#read())
      this.#recent.addAll(uncertain)
    } catch {
      // The old count plus what was admitted since is, at worst, too high.
    }
    this.#countedAt = this.#now()
    this.#durationMs = this.#countedAt - startedAt
  }
}

function tallyOf(usages: readonly QueueUsage[]): Tally {
  const tally = new Tally()
  for (const { created_by_issuer, created_by, workflow_namespace, count, bytes } of usages) {
    const used = { queued_executions: count, queued_bytes: bytes }
    tally.add(quotaKeys.principal(created_by_issuer, created_by), used)
    tally.add(quotaKeys.namespace(workflow_namespace), used)
  }
  return tally
}

const NONE: Usage = { queued_executions: 0, queued_bytes: 0 }

/** Sums by holder. */
class Tally {
  readonly #sums = new Map<string, Usage>()

  get(key: string): Usage {
    return this.#sums.get(key) ?? NONE
  }

  add(key: string, { queued_executions, queued_bytes }: Usage): void {
    const sum = this.#sums.get(key)
    if (!sum) return void this.#sums.set(key, { queued_executions, queued_bytes })
    sum.queued_executions += queued_executions
    sum.queued_bytes += queued_bytes
  }

  subtract(key: string, { queued_executions, queued_bytes }: Usage): void {
    this.add(key, { queued_executions: -queued_executions, queued_bytes: -queued_bytes })
    if (this.get(key).queued_executions <= 0) this.#sums.delete(key)
  }

  addAll(other: Tally): void {
    for (const [key, usage] of other.#sums) this.add(key, usage)
  }

  copy(): Tally {
    const copy = new Tally()
    copy.addAll(this)
    return copy
  }
}
