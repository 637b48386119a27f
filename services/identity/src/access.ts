import { AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import {
  ApiKeysService,
  PrincipalsService,
  RolesService,
} from '@windlass/proto/windlass/identity/v1/principals'
import { ConfigsService, SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import { declared, from, onBehalf, type RpcAccess } from '@windlass/rpc/policy'

/** Who may call what here. Whoever changes something is named by a signed statement. */
export const identity: RpcAccess<typeof IdentityService> = {
  checkBootstrap: from('gateway'),
  issueSession: onBehalf('gateway'),
  checkSession: from('gateway'),
}

export const principals: RpcAccess<typeof PrincipalsService> = {
  list: from('gateway'),
  create: onBehalf('gateway'),
  get: from('gateway'),
  update: onBehalf('gateway'),
  delete: onBehalf('gateway'),
  grantRole: onBehalf('gateway'),
  resolve: from('gateway', 'scheduler'),
  provision: onBehalf('gateway'),
  revokeRole: onBehalf('gateway'),
}

export const keys: RpcAccess<typeof ApiKeysService> = {
  create: onBehalf('gateway'),
  list: from('gateway'),
  revoke: onBehalf('gateway'),
  find: from('gateway'),
}

export const roles: RpcAccess<typeof RolesService> = {
  list: from('gateway'),
  get: from('gateway'),
  create: onBehalf('gateway'),
  update: onBehalf('gateway'),
  delete: onBehalf('gateway'),
  clone: onBehalf('gateway'),
  simulate: from('gateway'),
}

export const secrets: RpcAccess<typeof SecretsService> = {
  list: from('gateway'),
  put: onBehalf('gateway'),
  get: from('gateway'),
  getMany: from('gateway'),
  delete: onBehalf('gateway'),
  rotateKey: onBehalf('gateway'),
}

export const configs: RpcAccess<typeof ConfigsService> = {
  list: from('gateway'),
  put: onBehalf('gateway'),
  get: from('gateway'),
  getMany: from('gateway'),
  delete: onBehalf('gateway'),
}

export const audit: RpcAccess<typeof AuditService> = {
  /** Each entry has a statement of its own. */
  record: from('gateway'),
  list: from('gateway'),
}

export const rpcs = [
  ...declared(IdentityService, identity),
  ...declared(PrincipalsService, principals),
  ...declared(ApiKeysService, keys),
  ...declared(RolesService, roles),
  ...declared(SecretsService, secrets),
  ...declared(ConfigsService, configs),
  ...declared(AuditService, audit),
]
