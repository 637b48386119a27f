import type { ExecutionClaims } from '@windlass/domain/execution-tokens'
import { ALL_PERMISSIONS, onlyPermissions } from '@windlass/domain/permissions'
import { isTerminal } from '@windlass/domain/states'
import type { Starter } from '@windlass/proto/windlass/executions/v1/executions'
import type { Account } from '@windlass/proto/windlass/identity/v1/principals'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault, unavailable } from '@windlass/runtime/faults'
import { undefinedIfNotFound } from '@windlass/runtime/undefined-if-not-found'
import type { Caches } from '../cache/create-caches.ts'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import type { Caller } from './caller.ts'

export interface ExecutionTokenDeps {
  settings: Settings
  executions: ExecutionsClient
  getAccount: Caches['getAccount']
}

/**
 * Authenticates an execution token as the principal that started the execution, with its current
 * permissions. Checked at each request: the token is refused once the execution is terminal, its
 * claim is no longer current, or the recorded starter is another principal.
 */
export async function authenticateExecutionToken(
  deps: ExecutionTokenDeps,
  claims: ExecutionClaims,
): Promise<Caller> {
  if (!deps.settings.security.auth.enabled)
    return { subject: '', permissions: ALL_PERMISSIONS, execution: claims }
  const { sub: subject, principal_issuer: issuer } = claims
  const [account] = await Promise.all([
    getStarter(deps, subject, issuer),
    requireCurrentClaim(deps, claims),
  ])
  const { permissions, principal } = account
  return {
    subject,
    issuer,
    roles: principal?.roles ?? [],
    permissions: onlyPermissions(permissions),
    execution: claims,
  }
}

async function getStarter(
  { getAccount }: ExecutionTokenDeps,
  subject: string,
  issuer: string,
): Promise<Account> {
  const account =
    subject === '' ? undefined : await getAccount(subject, issuer).catch(undefinedIfNotFound)
  if (!account?.principal) throw forbidden('Principal not found')
  if (!account.principal.enabled) throw forbidden('Principal is disabled')
  return account
}

async function requireCurrentClaim(
  { executions }: ExecutionTokenDeps,
  claims: ExecutionClaims,
): Promise<void> {
  const execution = await executions.find(claims.exec_id)
  if (!execution || isTerminal(execution.state))
    throw forbidden(`Execution is not active (state: ${execution?.state ?? 'unknown'})`)
  const { worker_session, worker_name, claim_generation } = execution
  const isHeld = worker_session !== '' && worker_name === claims.worker
  if (!isHeld || claim_generation !== claims.generation)
    throw forbidden('stale-claim: the execution is no longer held under this token')
  requireStarter(execution.starter, claims)
}

/**
 * Refuses a token that names another principal than the one recorded with the execution: the
 * signature alone must not decide who acts. A replica of `executions` of an earlier release does
 * not return the starter; then the answer is 503, never a guess.
 */
function requireStarter(starter: Starter | undefined, claims: ExecutionClaims): void {
  if (!starter) throw unavailable('the starter of the execution cannot be verified; retry')
  const { subject, issuer } = starter
  if (subject !== claims.sub || issuer !== claims.principal_issuer)
    throw forbidden('Execution token does not name the principal that started the execution')
}

const forbidden = (message: string) => new Fault('forbidden', message)
