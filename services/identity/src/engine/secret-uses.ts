import { detailOf, objects } from '@windlass/domain/audit'
import type { UseEntriesRequest } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Call } from '@windlass/rpc/call'
import { Batcher } from '@windlass/runtime/batcher'
import type { Db } from '@windlass/runtime/postgres/db'
import { type AuditEntryDraft, append } from '../store/audit.ts'
import { RecentKeys } from './recent-keys.ts'
import { originOf, toAuditActor } from './record-change.ts'

const WINDOW_MS = 60_000
/** Maximum number of uses that are remembered in a window; beyond it a repeated use may be recorded again. */
const MAX_REMEMBERED = 10_000

/** Secrets that an execution got, or was refused. */
export interface SecretUse {
  request: UseEntriesRequest
  call: Call
  names: readonly string[]
  /** Set for a refusal: the rule that refused it. */
  denied?: 'scope' | 'uploader'
}

/**
 * Audit entries of secrets that are sent to workers, one per secret. A use by the same execution and worker
 * is recorded once a minute by each replica, so a loop does not fill the log. Uses that arrive while a
 * commit is in flight share the next one.
 */
export class SecretUses {
  readonly #batcher: Batcher<AuditEntryDraft, number>
  readonly #isEnabled: boolean
  readonly #recent = new RecentKeys({ windowMs: WINDOW_MS, max: MAX_REMEMBERED })

  constructor(db: Db, isEnabled: boolean) {
    this.#isEnabled = isEnabled
    this.#batcher = new Batcher((drafts) => db.tx((tx) => append(tx, drafts)))
  }

  /** Resolves once the use is recorded. Throws if it cannot be recorded; then no value may be answered. */
  async record({ request, call, names, denied }: SecretUse): Promise<void> {
    if (!this.#isEnabled) return
    const { execution_id, worker_name, client_address, previous = false } = request
    const detail_json = detailOf({
      ...{ execution_id, worker: worker_name, client_address },
      ...{ workflow: `${request.namespace}/${request.workflow}` },
      ...{ workflow_version: request.workflow_version },
      ...(previous && { previous }),
      ...(denied && { reason: denied }),
    })
    const outcome = denied ? 'denied' : 'done'
    const by = toAuditActor(originOf(call))
    const drafts = names
      .filter((name) => this.#recent.add(`${outcome} ${name} ${detail_json}`))
      .map((name): AuditEntryDraft => {
        return { by, action: 'secret.use', object: objects.secret(name), outcome, detail_json }
      })
    try {
      await Promise.all(drafts.map((draft) => this.#batcher.add(draft)))
    } catch (error) {
      this.#recent.clear()
      throw error
    }
  }
}
