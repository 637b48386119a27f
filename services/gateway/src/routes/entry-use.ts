import { ANONYMOUS_CALLER, type Caller, INTERNAL_ISSUER } from '@windlass/domain/caller'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type {
  ConfigsService,
  Entry,
  SecretsService,
  UseEntriesRequest,
} from '@windlass/proto/windlass/identity/v1/secrets'
import type { RpcClient } from '@windlass/rpc/client'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import type { Settings } from '@windlass/runtime/config/settings'
import { clientAddress } from '@windlass/runtime/http/client-address'
import type { RunningVersion } from '../cache/running-version.ts'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import type { RequestContext } from '../http/request-context.ts'

type Use = RpcClient<typeof SecretsService>['use'] | RpcClient<typeof ConfigsService>['use']

export interface EntryUseDeps {
  executions: ExecutionsClient
  settings: Settings
  signCaller: ServiceIdentity['signCaller']
}

/** Names that a worker requests, and the execution for which it requests them. */
export interface EntryUse {
  names: readonly string[]
  worker_name: string
  previous?: boolean
  /** Path of the rpc, for which the token of the uploader is signed. */
  rpc: string
  running?: { execution: Execution; version: RunningVersion } | undefined
}

/**
 * Reads entries for a worker on behalf of the principal that started the execution. A replica of identity
 * from an earlier release cannot apply the policy of secrets; then the answer is 503, never a value.
 */
export async function useEntries(
  use: Use,
  { names, worker_name, previous = false, rpc, running }: EntryUse,
  ctx: RequestContext,
  { executions, settings, signCaller }: EntryUseDeps,
): Promise<Entry[]> {
  const caller = running ? await starterOf(executions, running.execution) : ANONYMOUS_CALLER
  const request: UseEntriesRequest = {
    names: [...names],
    namespace: running?.version.namespace ?? '',
    workflow: running?.version.name ?? '',
    workflow_version: running?.version.version ?? 0,
    uploader: running ? signCaller(running.version.uploader, 'identity', rpc) : '',
    execution_id: running?.execution.execution_id ?? '',
    worker_name,
    client_address: clientAddress(ctx.req, settings.server.trusted_proxies),
    previous,
  }
  return (await orUpgrade(use(request, { caller, requestId: ctx.id }), 'identity')).entries
}

/** Only `get` reads an execution with its starter. */
async function starterOf(
  executions: ExecutionsClient,
  { execution_id }: Execution,
): Promise<Caller> {
  const starter = (await executions.find(execution_id))?.starter
  if (!starter || starter.subject === '') return ANONYMOUS_CALLER
  return { subject: starter.subject, issuer: starter.issuer || INTERNAL_ISSUER }
}
