import type { HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import type { Handlers } from '@windlass/rpc/call'
import type { Db } from '@windlass/runtime/postgres/db'
import { createCompareHandler } from './compare-executions.ts'
import { logHandlers } from './execution-logs.ts'
import { createListChangesHandler } from './list-changes.ts'
import { createPlanForkHandler } from './plan-forks.ts'
import { createSearchHandler } from './search-executions.ts'
import { statisticsHandlers } from './statistics.ts'

/** Creates the handlers of the service `History`; each rpc has a file of its own. */
export const historyHandlers = (db: Db): Handlers<typeof HistoryService> => ({
  search: createSearchHandler(db),
  ...logHandlers(db),
  ...statisticsHandlers(db),
  planFork: createPlanForkHandler(db),
  compare: createCompareHandler(db),
  listChanges: createListChangesHandler(db),
})
