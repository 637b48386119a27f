import type { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import type { PrincipalsService } from '@windlass/proto/windlass/identity/v1/principals'
import type { ClientOf } from '@windlass/rpc/call'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'

export type Catalog = Pick<ClientOf<typeof CatalogService>, 'resolve' | 'list'>
export type Executions = Pick<ClientOf<typeof ExecutionsService>, 'submit' | 'get'>

export type Principals = Pick<ClientOf<typeof PrincipalsService>, 'resolve'>

/** What the work of this service is done with. */
export interface SchedulerDeps {
  db: Db
  catalog: Catalog
  executions: Executions
  /** Says what accounts may do; absent while authentication is off. */
  principals: Principals | undefined
  /** Vouches for whom executions are started. */
  serviceIdentity: Pick<ServiceIdentity, 'signCaller'>
  log: Logger
  /** How old a missed tick may be to fire, in milliseconds. */
  catchupMs: number
  /** Says that something may have become due earlier than known. */
  wake: () => void
}
