import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { allow, allowOnBehalfOf, listRpcs, type RpcAccess } from '@windlass/rpc/policy'

/** RPC policy. Changes require an on-behalf-of token that names the caller. */
export const catalog: RpcAccess<typeof CatalogService> = {
  analyze: allow('gateway'),
  register: allowOnBehalfOf('gateway'),
  resolve: allow('gateway', 'scheduler'),
  get: allow('gateway'),
  getById: allow('gateway', 'dispatcher'),
  list: allow('gateway', 'scheduler'),
  listVersions: allow('gateway'),
  diff: allow('gateway'),
  delete: allowOnBehalfOf('gateway'),
}

export const rpcs = [...listRpcs(CatalogService, catalog)]
