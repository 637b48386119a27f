import type { InputSchemaCache } from '@windlass/domain/input/input-schemas'
import type { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import type { PrincipalsService } from '@windlass/proto/windlass/identity/v1/principals'
import type { ClientOf } from '@windlass/rpc/call'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'

export type Catalog = Pick<ClientOf<typeof CatalogService>, 'resolve' | 'list'>
export type Executions = Pick<ClientOf<typeof ExecutionsService>, 'submit' | 'get'>

export type Principals = Pick<ClientOf<typeof PrincipalsService>, 'resolve'>

/** Dependencies of handlers, loops and the engine. */
export interface SchedulerDeps {
  db: Db
  catalog: Catalog
  executions: Executions
  /** Undefined while authentication is off. */
  principals: Principals | undefined
  /** Signs the account for which an execution is started. */
  serviceIdentity: Pick<ServiceIdentity, 'signCaller'>
  inputSchemas: InputSchemaCache
  log: Logger
  /** Maximum number of schedules of a principal and of a namespace; 0: no limit. */
  quotas: Pick<Settings['quotas'], 'principal_schedules' | 'namespace_schedules'>
  /** Maximum age of a misfired tick that still fires, in milliseconds. */
  catchupMs: number
  /** Runs due work now, because a tick may have become due earlier than the loop expects. */
  wake: () => void
}
