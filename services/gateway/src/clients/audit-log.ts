import type { Caller } from '@windlass/domain/caller'
import { type AuditRecord, AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import type { RpcClient } from '@windlass/rpc/client'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { Batcher } from '@windlass/runtime/batcher'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'

type Audit = Pick<RpcClient<typeof AuditService>, 'record'>

/** What is to be recorded, and who asked for it. */
export interface AuditEntry extends Omit<AuditRecord, 'caller'> {
  caller: Caller
}

const CALL_TIMEOUT_MS = 3_000
const RETRY_MS = 1_000
/** What an outage of identity may leave to be recorded later; more would be an attack. */
const MAX_PENDING = 10_000

/** The way to the audit log: entries that come while a call is under way go together with the next. */
export class AuditLog {
  readonly #batcher: Batcher<AuditEntry, number>
  readonly #log: Logger
  readonly #retryLoop: Loop
  #pending: AuditEntry[] = []

  constructor(audit: Audit, { signCaller }: Pick<ServiceIdentity, 'signCaller'>, log: Logger) {
    this.#log = log
    // The statements are made now and not with the entries, which may have waited for longer than they last.
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

  /** Answers its number once it is kept; throws while identity is out of reach. */
  record(entry: AuditEntry): Promise<number> {
    return this.#batcher.add(entry)
  }

  /** Records what has happened already: now, or as soon as identity is back. Never throws. */
  async recordEventually(entries: readonly AuditEntry[]): Promise<void> {
    const results = await Promise.allSettled(entries.map((entry) => this.record(entry)))
    const left = entries.filter((_, i) => results[i]?.status === 'rejected')
    if (left.length === 0) return
    const kept = left.slice(0, MAX_PENDING - this.#pending.length)
    this.#pending.push(...kept)
    this.#log.warn({ owed: this.#pending.length }, 'the audit log is out of reach')
    for (const { action, object, outcome, caller } of left.slice(kept.length))
      this.#log.error({ action, object, outcome, caller }, 'an entry of the audit log is lost')
  }

  /** Tries once more to record what is owed. */
  async stop(): Promise<void> {
    await this.#retryLoop.stop()
    await this.#recordPending().catch(() => {})
    for (const { action, object, outcome, caller } of this.#pending)
      this.#log.error({ action, object, outcome, caller }, 'an entry of the audit log is lost')
  }

  async #recordPending(): Promise<void> {
    const owed = this.#pending.splice(0)
    if (owed.length === 0) return
    const results = await Promise.allSettled(owed.map((entry) => this.record(entry)))
    this.#pending.unshift(...owed.filter((_, i) => results[i]?.status === 'rejected'))
  }
}
