import { type AuditRecord, AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import type { RpcClient } from '@windlass/rpc/client'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { Batcher } from '@windlass/runtime/batcher'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import type { AuditEntry } from './audit-entry.ts'
import { RefusalAggregator } from './refusal-aggregator.ts'

type Audit = Pick<RpcClient<typeof AuditService>, 'record'>

const CALL_TIMEOUT_MS = 3_000
const RETRY_MS = 1_000
/** Maximum number of entries that wait in memory during an outage of identity. */
const MAX_PENDING = 10_000

/** Records audit entries; entries that arrive while a call is in flight form the next batch. */
export class AuditLog {
  readonly #batcher: Batcher<AuditEntry, number>
  readonly #log: Logger
  readonly #retryLoop: Loop
  readonly #refusals = new RefusalAggregator()
  #pending: AuditEntry[] = []

  constructor(audit: Audit, { signCaller }: Pick<ServiceIdentity, 'signCaller'>, log: Logger) {
    this.#log = log
    // Tokens are signed here and not for each entry, because an entry may wait for longer than a token is
    // valid.
    const sealed = ({ caller, ...entry }: AuditEntry): AuditRecord => ({
      ...entry,
      caller: signCaller(caller, 'identity', AuditService.record.path),
    })
    this.#batcher = new Batcher(async (entries) => {
      const { seqs } = await audit.record(
        { records: entries.map(sealed) },
        { timeoutMs: CALL_TIMEOUT_MS },
      )
      return seqs
    })
    this.#retryLoop = loop({ name: 'audit', pauseMs: RETRY_MS, log }, () => this.#recordPending())
  }

  /** Resolves to the number of the stored entry; throws while identity is unavailable. */
  record(entry: AuditEntry): Promise<number> {
    return this.#batcher.add(entry)
  }

  /** Records something that has already happened: now, or as soon as identity is available. Never throws. */
  async recordEventually(entries: readonly AuditEntry[]): Promise<void> {
    const results = await Promise.allSettled(entries.map((entry) => this.record(entry)))
    const left = entries.filter((_, i) => results[i]?.status === 'rejected')
    if (left.length === 0) return
    const kept = left.slice(0, MAX_PENDING - this.#pending.length)
    this.#pending.push(...kept)
    this.#log.warn({ pending: this.#pending.length }, 'failed to record audit entries')
    for (const { action, object, outcome, caller } of left.slice(kept.length))
      this.#log.error({ action, object, outcome, caller }, 'audit entry lost')
  }

  /** Records refused requests; repeated ones of a caller become one entry a minute. Never throws. */
  async recordRefusals(entries: readonly AuditEntry[]): Promise<void> {
    await this.recordEventually(entries.filter((entry) => this.#refusals.admit(entry)))
  }

  /** Tries once more to record the pending entries. */
  async stop(): Promise<void> {
    await this.#retryLoop.stop()
    this.#pending.push(...this.#refusals.takeSummaries(true))
    await this.#recordPending().catch(() => {})
    for (const { action, object, outcome, caller } of this.#pending)
      this.#log.error({ action, object, outcome, caller }, 'audit entry lost')
  }

  async #recordPending(): Promise<void> {
    const owed = [...this.#pending.splice(0), ...this.#refusals.takeSummaries()]
    const dropped = this.#refusals.takeDropped()
    if (dropped > 0) this.#log.error({ dropped }, 'audit entries of refused requests dropped')
    if (owed.length === 0) return
    const results = await Promise.allSettled(owed.map((entry) => this.record(entry)))
    this.#pending.unshift(...owed.filter((_, i) => results[i]?.status === 'rejected'))
  }
}
