import { AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import { IdentityService, WorkerTokensService } from '@windlass/proto/windlass/identity/v1/identity'
import {
  ApiKeysService,
  PrincipalsService,
  RolesService,
} from '@windlass/proto/windlass/identity/v1/principals'
import { ConfigsService, SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import { ViewsService } from '@windlass/proto/windlass/identity/v1/views'
import { allow, allowOnBehalfOf, listRpcs, type RpcAccess } from '@windlass/rpc/policy'

/** Services that may call each rpc. An rpc that changes something requires an on-behalf-of token. */
export const identity: RpcAccess<typeof IdentityService> = {
  checkBootstrap: allow('gateway'),
  issueSession: allowOnBehalfOf('gateway'),
  checkSession: allow('gateway'),
}

export const workerTokens: RpcAccess<typeof WorkerTokensService> = {
  create: allowOnBehalfOf('gateway'),
  list: allow('gateway'),
  revoke: allowOnBehalfOf('gateway'),
  endSession: allowOnBehalfOf('gateway'),
}

export const principals: RpcAccess<typeof PrincipalsService> = {
  list: allow('gateway'),
  create: allowOnBehalfOf('gateway'),
  get: allow('gateway'),
  update: allowOnBehalfOf('gateway'),
  delete: allowOnBehalfOf('gateway'),
  grantRole: allowOnBehalfOf('gateway'),
  resolve: allow('gateway', 'scheduler'),
  provision: allowOnBehalfOf('gateway'),
  revokeRole: allowOnBehalfOf('gateway'),
}

export const keys: RpcAccess<typeof ApiKeysService> = {
  create: allowOnBehalfOf('gateway'),
  list: allow('gateway'),
  revoke: allowOnBehalfOf('gateway'),
  find: allow('gateway'),
}

export const roles: RpcAccess<typeof RolesService> = {
  list: allow('gateway'),
  get: allow('gateway'),
  create: allowOnBehalfOf('gateway'),
  update: allowOnBehalfOf('gateway'),
  updateIf: allowOnBehalfOf('gateway'),
  delete: allowOnBehalfOf('gateway'),
  clone: allowOnBehalfOf('gateway'),
  simulate: allow('gateway'),
}

export const secrets: RpcAccess<typeof SecretsService> = {
  list: allow('gateway'),
  put: allowOnBehalfOf('gateway'),
  putIf: allowOnBehalfOf('gateway'),
  get: allow('gateway'),
  getMany: allow('gateway'),
  /** On behalf of the principal that started the execution. */
  use: allowOnBehalfOf('gateway'),
  delete: allowOnBehalfOf('gateway'),
  rotateKey: allowOnBehalfOf('gateway'),
}

export const configs: RpcAccess<typeof ConfigsService> = {
  list: allow('gateway'),
  put: allowOnBehalfOf('gateway'),
  putIf: allowOnBehalfOf('gateway'),
  get: allow('gateway'),
  getMany: allow('gateway'),
  /** On behalf of the principal that started the execution. */
  use: allowOnBehalfOf('gateway'),
  delete: allowOnBehalfOf('gateway'),
  listUses: allow('gateway'),
}

export const audit: RpcAccess<typeof AuditService> = {
  /** Each entry carries its own on-behalf-of token. */
  record: allow('gateway'),
  list: allow('gateway'),
  listCheckpoints: allow('gateway'),
}

/** Each rpc concerns only the saved views of its caller. */
export const views: RpcAccess<typeof ViewsService> = {
  list: allowOnBehalfOf('gateway'),
  put: allowOnBehalfOf('gateway'),
  putIf: allowOnBehalfOf('gateway'),
  delete: allowOnBehalfOf('gateway'),
}

export const rpcs = [
  ...listRpcs(IdentityService, identity),
  ...listRpcs(WorkerTokensService, workerTokens),
  ...listRpcs(PrincipalsService, principals),
  ...listRpcs(ApiKeysService, keys),
  ...listRpcs(RolesService, roles),
  ...listRpcs(SecretsService, secrets),
  ...listRpcs(ConfigsService, configs),
  ...listRpcs(AuditService, audit),
  ...listRpcs(ViewsService, views),
]
