import { type Action, detailOf, type Outcome } from '@windlass/domain/audit'
import { type Caller, toPrincipal } from '../access/caller.ts'
import { ruleOf } from '../access/rules.ts'
import type { AuditLog } from '../clients/audit-log.ts'
import type { RequestContext } from '../http/request-context.ts'
import { faultOf } from '../http/response.ts'

/** How the audit log tells what a route changes. A refusal may come before body and findings are known. */
export interface AuditSpec<I = RequestInput> {
  action: Action | ((input: I) => Action)
  /** What it is done to; an entry each. */
  object(input: I): string | string[]
  /** Whether this request only tries it, which is no deed; to be denied it is told of all the same. */
  isDryRun?(input: I): boolean
  /**
   * Who records a success: the `owner`, in the commit of the change; the gateway `around` it, so that
   * the log knows before the owner does; or `after` it, for what changes nothing. Refusals are
   * recorded by the gateway.
   */
  recorded: 'owner' | 'around' | 'after'
}

/** What is known of a request so far. */
export interface RequestInput {
  params: Record<string, unknown>
  query: unknown
  body: unknown
  resolved: unknown
  caller: Caller
  ctx: RequestContext
}

/** The entries that one request leaves in the audit log. */
export class AuditTrail {
  readonly #spec: AuditSpec
  readonly #access: string
  readonly #log: AuditLog
  readonly #input: RequestInput
  #beginEntries: number[] = []
  #stage: 'asking' | 'admitted' | 'beginning' | 'begun' = 'asking'

  constructor(
    { audit, access }: { audit: AuditSpec; access: string },
    log: AuditLog,
    input: RequestInput,
  ) {
    this.#spec = audit
    this.#access = access
    this.#log = log
    this.#input = input
  }

  /** Comes once the caller is let in. */
  markAuthorized(): void {
    this.#stage = 'admitted'
  }

  /** Comes before the handler. What cannot be recorded is not begun. */
  async recordStart(): Promise<void> {
    this.#stage = 'beginning'
    if (this.#spec.recorded === 'around' && !this.#isDryRun())
      this.#beginEntries = await this.#write('begun')
    this.#stage = 'begun'
  }

  /** Comes before the answer to a success. A change stands, recorded now or a little later; what is only read is not answered unrecorded. */
  async recordSuccess(): Promise<void> {
    if (this.#isDryRun()) return
    const { recorded } = this.#spec
    if (recorded === 'after') await this.#write('done')
    if (recorded === 'around') await this.#log.recordEventually(this.#draftEntries('done'))
  }

  /** Comes before a refusal. Who could not be told apart from anybody leaves none: he could fill the log. */
  async recordRefusal(error: unknown): Promise<void> {
    const isStranger = this.#stage === 'asking' && ruleOf(this.#access)?.for === 'machines'
    if (isStranger || this.#stage === 'beginning') return
    const outcome = outcomeOf(error)
    // Who tries what he may not do is told of, whether it would have changed anything or not.
    if (this.#isDryRun() && outcome !== 'denied') return
    const how = this.#isDryRun() ? { dry_run: true } : {}
    await this.#log.recordEventually(this.#draftEntries(outcome, { ...reasonOf(error), ...how }))
  }

  #isDryRun(): boolean {
    return this.#spec.isDryRun?.(this.#input) ?? false
  }

  #write(outcome: Outcome): Promise<number[]> {
    return Promise.all(this.#draftEntries(outcome).map((draft) => this.#log.record(draft)))
  }

  #draftEntries(outcome: Outcome, reason: Record<string, unknown> = {}) {
    const { action, object } = this.#spec
    const input = this.#input
    return [object(input)].flat().map((object, i) => ({
      caller: toPrincipal(input.caller),
      request_id: input.ctx.id,
      action: typeof action === 'string' ? action : action(input),
      object,
      outcome,
      detail_json: detailOf({
        ...(this.#beginEntries[i] && { begun: this.#beginEntries[i] }),
        ...reason,
      }),
    }))
  }
}

function outcomeOf(error: unknown): Outcome {
  const kind = faultOf(error)?.kind ?? 'unavailable'
  if (kind === 'unavailable') return 'unknown'
  return kind === 'forbidden' ? 'denied' : 'failed'
}

/** Only a denial speaks of permissions alone; other messages may repeat what was sent. */
function reasonOf(error: unknown) {
  const fault = faultOf(error)
  return { reason: fault?.kind === 'forbidden' ? fault.message : (fault?.kind ?? 'error') }
}
