import {
  type FindLatest,
  missingPermissionsToRun,
  onlyPermissions,
} from '@windlass/domain/permissions'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Account } from '@windlass/proto/windlass/identity/v1/principals'
import { Fault } from '@windlass/runtime/faults'
import type { Firing } from '../store/ticks.ts'
import type { SchedulerDeps } from './deps.ts'

const RESOLVE_MS = 2_000
const WITHOUT_ACCOUNT =
  'the schedule was created while authentication was off; update it or set run_as_service_account'
/** The caller that chose the account could not be checked for permission to name it. */
const CHOSEN_ANONYMOUSLY =
  'the schedule was changed while authentication was off; update it to confirm its account'

/**
 * An account with its current permissions, undefined if it does not exist, or the fault of a failed
 * call.
 */
export type AccountStatus = Account | Fault | undefined

export const accountKey = ({ run_as, run_as_issuer, is_anonymous }: Firing) =>
  JSON.stringify([run_as, run_as_issuer, is_anonymous])

/** Reads the account of a firing from identity. */
export async function lookUpAccount(
  { principals, log }: SchedulerDeps,
  { run_as: subject, run_as_issuer: external_issuer }: Firing,
): Promise<AccountStatus> {
  if (!principals || subject === '') return undefined
  try {
    return await principals.resolve({ subject, external_issuer }, { timeoutMs: RESOLVE_MS })
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not_found') return undefined
    log.warn({ err: error, subject }, 'failed to look up account')
    return error instanceof Fault ? error : new Fault('unavailable', 'identity is unavailable')
  }
}

/** Returns the reason why the account may not run the workflow, or undefined if it may. */
export async function describeRefusal(
  { run_as, is_anonymous, workflow_namespace, workflow_name }: Firing,
  account: Account | undefined,
  { workflow, latest }: { workflow: Workflow; latest: FindLatest },
): Promise<string | undefined> {
  if (run_as === '') return `not allowed: ${WITHOUT_ACCOUNT}`
  if (is_anonymous) return `not allowed: ${CHOSEN_ANONYMOUSLY}`
  if (!account?.principal) return `not allowed: '${run_as}' does not exist`
  if (!account.principal.enabled) return `not allowed: '${run_as}' is disabled`
  const permissions = onlyPermissions(account.permissions)
  const missing = await missingPermissionsToRun(permissions, workflow, latest).catch(
    reasonIfTooMany,
  )
  if (typeof missing === 'string') return `not allowed: ${missing}`
  if (missing.length === 0) return undefined
  const needs = missing.map((permission) => `'${permission}'`).join(', ')
  return `not allowed: '${run_as}' may not run ${workflow_namespace}/${workflow_name}: requires ${needs}`
}

/** Returns the message for a workflow that requires too many permissions to check them. */
function reasonIfTooMany(error: unknown): string {
  if (error instanceof Fault && error.kind === 'invalid') return error.message
  throw error
}
