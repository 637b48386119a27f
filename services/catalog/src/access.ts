import { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import { declared, from, onBehalf, type RpcAccess } from '@windlass/rpc/policy'

/** Who may call what here. Whoever changes something is named by a signed statement. */
export const catalog: RpcAccess<typeof CatalogService> = {
  analyze: from('gateway'),
  register: onBehalf('gateway'),
  resolve: from('gateway', 'scheduler'),
  get: from('gateway'),
  getById: from('gateway', 'dispatcher'),
  list: from('gateway', 'scheduler'),
  listVersions: from('gateway'),
  diff: from('gateway'),
  delete: onBehalf('gateway'),
}

export const rpcs = [...declared(CatalogService, catalog)]
