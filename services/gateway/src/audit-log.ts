import type { AuditDraft, AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import { Gather } from '@windlass/runtime/gather'
import type { Logger } from '@windlass/runtime/log'
import { type Loop, loop } from '@windlass/runtime/loop'
import type { RpcClient } from '@windlass/runtime/rpc-client'

type Audit = Pick<RpcClient<typeof AuditService>, 'record'>

const CALL_MS = 3_000
const RETRY_MS = 1_000
/** What an outage of identity may leave to be recorded later; more would be an attack. */
const MAX_OWED = 10_000

/** The way to the audit log: entries that come while a call is under way go together with the next. */
export class AuditLog {
  readonly #gather: Gather<AuditDraft, number>
  readonly #log: Logger
  readonly #paying: Loop
  #owed: AuditDraft[] = []

  constructor(audit: Audit, log: Logger) {
    this.#log = log
    this.#gather = new Gather(async (drafts) => {
      const { seqs } = await audit.record({ drafts }, { timeoutMs: CALL_MS })
      return seqs
    })
    this.#paying = loop({ name: 'audit', pauseMs: RETRY_MS, log }, () => this.#pay())
  }

  /** Answers its number once it is kept; throws while identity is out of reach. */
  record(draft: AuditDraft): Promise<number> {
    return this.#gather.add(draft)
  }

  /** Records what has happened already: now, or as soon as identity is back. Never throws. */
  async owe(drafts: readonly AuditDraft[]): Promise<void> {
    const results = await Promise.allSettled(drafts.map((draft) => this.record(draft)))
    const left = drafts.filter((_, i) => results[i]?.status === 'rejected')
    if (left.length === 0) return
    const kept = left.slice(0, MAX_OWED - this.#owed.length)
    this.#owed.push(...kept)
    this.#log.warn({ owed: this.#owed.length }, 'the audit log is out of reach')
    for (const { action, object, outcome, by } of left.slice(kept.length))
      this.#log.error({ action, object, outcome, by }, 'an entry of the audit log is lost')
  }

  /** Tries once more to record what is owed. */
  async stop(): Promise<void> {
    await this.#paying.stop()
    await this.#pay().catch(() => {})
    for (const { action, object, outcome, by } of this.#owed)
      this.#log.error({ action, object, outcome, by }, 'an entry of the audit log is lost')
  }

  async #pay(): Promise<void> {
    const owed = this.#owed.splice(0)
    if (owed.length === 0) return
    const results = await Promise.allSettled(owed.map((draft) => this.record(draft)))
    this.#owed.unshift(...owed.filter((_, i) => results[i]?.status === 'rejected'))
  }
}
