import { type Action, detailOf, type Outcome } from '@windlass/domain/audit'
import type { Settings } from '@windlass/runtime/config/settings'
import { type Caller, toPrincipal } from '../access/caller.ts'
import { ruleOf } from '../access/rules.ts'
import type { AuditLog } from '../clients/audit-log.ts'
import type { RequestContext } from '../http/request-context.ts'
import { faultOf } from '../http/response.ts'

/**
 * How the audit log records a route. A refusal may happen before the body and the result of the rule are
 * known.
 */
export interface AuditSpec<I = RequestInput> {
  action: Action | ((input: I) => Action)
  /** The objects of the action, one entry each. */
  object(input: I): string | string[]
  /** True for a dry run, which is recorded only if it is denied. */
  isDryRun?(input: I): boolean
  /** Further members of the entries, without any value of the request's body. */
  detail?(input: I): Record<string, unknown>
  /** Lowest level of `[svc.audit]` at which the route is recorded; unset: always. */
  level?: 'runs'
  /**
   * How a success is recorded: by the `owner`, in the commit of the change; by the gateway `around` the
   * call, so that an entry exists before the change; `after` the call, for a read; or `eventually`, while
   * the response is sent. The gateway records refusals.
   */
  recorded: 'owner' | 'around' | 'after' | 'eventually'
}

/** True if the routes of this specification are recorded at this level. */
export const isRecordedAt = (
  { level }: AuditSpec,
  configured: Settings['audit']['level'],
): boolean => level === undefined || level === configured

/** The parts of a request that are known so far. */
export interface RequestInput {
  params: Record<string, unknown>
  query: unknown
  body: unknown
  resolved: unknown
  caller: Caller
  ctx: RequestContext
}

/** The audit entries of one request. */
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

  /** Called once the caller is authorized. */
  markAuthorized(): void {
    this.#stage = 'admitted'
  }

  /** Called before the handler. A change that cannot be recorded is not started. */
  async recordStart(): Promise<void> {
    this.#stage = 'beginning'
    if (this.#spec.recorded === 'around' && !this.#isDryRun())
      this.#beginEntries = await this.#write('begun')
    this.#stage = 'begun'
  }

  /**
   * Called before the answer to a successful request. A change stands and is recorded now or later; a read
   * is not answered before it is recorded.
   */
  async recordSuccess(): Promise<void> {
    if (this.#isDryRun()) return
    const { recorded } = this.#spec
    if (recorded === 'after') await this.#write('done')
    if (recorded === 'around') await this.#log.recordEventually(this.#draftEntries('done'))
    if (recorded === 'eventually') void this.#log.recordEventually(this.#draftEntries('done'))
  }

  /** Called before a refusal. An unauthenticated caller leaves no entry: it could fill the log. */
  async recordRefusal(error: unknown): Promise<void> {
    const isStranger = this.#stage === 'asking' && ruleOf(this.#access)?.for === 'machines'
    if (isStranger || this.#stage === 'beginning') return
    const outcome = outcomeOf(error)
    // A denied attempt is recorded, also of a dry run.
    if (this.#isDryRun() && outcome !== 'denied') return
    const how = this.#isDryRun() ? { dry_run: true } : {}
    const entries = this.#draftEntries(outcome, { ...reasonOf(error), ...how })
    // An entry that completes a `begun` entry is never aggregated, nor is one with an unknown outcome.
    const isRefusal = this.#beginEntries.length === 0 && outcome !== 'unknown'
    if (isRefusal) await this.#log.recordRefusals(entries)
    else await this.#log.recordEventually(entries)
  }

  #isDryRun(): boolean {
    return this.#spec.isDryRun?.(this.#input) ?? false
  }

  #write(outcome: Outcome): Promise<number[]> {
    return Promise.all(this.#draftEntries(outcome).map((draft) => this.#log.record(draft)))
  }

  #draftEntries(outcome: Outcome, reason: Record<string, unknown> = {}) {
    const { action, object, detail } = this.#spec
    const input = this.#input
    return [object(input)].flat().map((object, i) => ({
      caller: toPrincipal(input.caller),
      request_id: input.ctx.id,
      action: typeof action === 'string' ? action : action(input),
      object,
      outcome,
      detail_json: detailOf({
        ...(input.ctx.clientAddress && { client_address: input.ctx.clientAddress }),
        ...(this.#beginEntries[i] && { begun: this.#beginEntries[i] }),
        ...detail?.(input),
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

/** The text of a denial names permissions only; other messages may contain the input. */
function reasonOf(error: unknown) {
  const fault = faultOf(error)
  return { reason: fault?.kind === 'forbidden' ? fault.message : (fault?.kind ?? 'error') }
}
