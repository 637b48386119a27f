import type { ExecutionClaims } from '@windlass/domain/execution-tokens'
import type { Account } from '@windlass/proto/windlass/identity/v1/principals'
import { Fault } from '@windlass/runtime/faults'
import { isFinal } from '../domain/states.ts'
import type { Services } from '../services.ts'
import type { Caller } from './caller.ts'

type Asking = Pick<Services, 'settings' | 'executions' | 'accountOf'>

/**
 * Who asks with an execution token: the principal in whose name the execution was started, with the
 * rights that it has now. Looked at anew each time: the token is worth nothing once the execution has
 * ended or left the hands of the worker that it was minted for.
 */
export async function actingFor(services: Asking, claims: ExecutionClaims): Promise<Caller> {
  if (!services.settings.security.auth.enabled) return { subject: '', execution: claims }
  const { sub: subject, principal_issuer: issuer } = claims
  const [account] = await Promise.all([
    starterOf(services, subject, issuer),
    demandHeld(services, claims),
  ])
  const { permissions, principal } = account
  return { subject, issuer, roles: principal?.roles ?? [], permissions, execution: claims }
}

async function starterOf({ accountOf }: Asking, subject: string, issuer: string): Promise<Account> {
  const account = subject === '' ? undefined : await accountOf(subject, issuer).catch(ifUnknown)
  if (!account?.principal) throw forbidden('Principal not found')
  if (!account.principal.enabled) throw forbidden('Principal is disabled')
  return account
}

async function demandHeld({ executions }: Asking, claims: ExecutionClaims): Promise<void> {
  const execution = await executions.find(claims.exec_id)
  if (!execution || isFinal(execution.state))
    throw forbidden(`Execution is not active (state: ${execution?.state ?? 'unknown'})`)
  const { worker_session, worker_name, claim_generation } = execution
  const isHeld = worker_session !== '' && worker_name === claims.worker
  if (!isHeld || claim_generation !== claims.generation)
    throw forbidden('stale-claim: the execution is no longer held under this token')
}

const forbidden = (message: string) => new Fault('forbidden', message)

function ifUnknown(error: unknown): undefined {
  if (error instanceof Fault && error.kind === 'not_found') return undefined
  throw error
}
