import type { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import type { Db } from '@windlass/runtime/db'
import type { Logger } from '@windlass/runtime/log'
import type { ClientOf } from '@windlass/runtime/rpc'

export type Catalog = Pick<ClientOf<typeof CatalogService>, 'resolve' | 'list'>
export type Executions = Pick<ClientOf<typeof ExecutionsService>, 'submit' | 'get'>

/** What the work of this service is done with. */
export interface Parts {
  db: Db
  catalog: Catalog
  executions: Executions
  log: Logger
  /** How old a missed tick may be to fire, in milliseconds. */
  catchupMs: number
  /** Says that something may have become due earlier than known. */
  wake: () => void
}
