import { type FindLatest, missingPermissionsToRun } from '@windlass/domain/permissions'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Account } from '@windlass/proto/windlass/identity/v1/principals'
import { Fault } from '@windlass/runtime/faults'
import type { Firing } from '../store/ticks.ts'
import type { SchedulerDeps } from './deps.ts'

const RESOLVE_MS = 2_000
const WITHOUT_ACCOUNT =
  "nobody's: it was made while authentication was off; change it or name an account"

/** What an account may do at this moment; nothing where there is no such account, a fault where that cannot be known now. */
export type AccountStatus = Account | Fault | undefined

export const accountKey = ({ run_as, run_as_issuer }: Firing) =>
  JSON.stringify([run_as, run_as_issuer])

/** Asks what the account of a firing may do. */
export async function lookUpAccount(
  { principals, log }: SchedulerDeps,
  { run_as: subject, run_as_issuer: external_issuer }: Firing,
): Promise<AccountStatus> {
  if (!principals || subject === '') return undefined
  try {
    return await principals.resolve({ subject, external_issuer }, { timeoutMs: RESOLVE_MS })
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not_found') return undefined
    log.warn({ err: error, subject }, 'cannot tell yet what an account may do')
    return error instanceof Fault ? error : new Fault('unavailable', 'identity failed')
  }
}

/** Why this account may not run the workflow, if it may not. */
export async function describeRefusal(
  { run_as, workflow_namespace, workflow_name }: Firing,
  account: Account | undefined,
  { workflow, latest }: { workflow: Workflow; latest: FindLatest },
): Promise<string | undefined> {
  if (run_as === '') return `not allowed: the schedule is ${WITHOUT_ACCOUNT}`
  if (!account?.principal) return `not allowed: there is no '${run_as}' any more`
  if (!account.principal.enabled) return `not allowed: '${run_as}' is disabled`
  const missing = await missingPermissionsToRun(account.permissions, workflow, latest)
  if (missing.length === 0) return undefined
  const needs = missing.map((permission) => `'${permission}'`).join(', ')
  return `not allowed: '${run_as}' may not run ${workflow_namespace}/${workflow_name}: requires ${needs}`
}
