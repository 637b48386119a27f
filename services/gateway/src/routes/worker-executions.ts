import { route } from '../route/route.ts'
import { type ListDeps, listView } from './responses.ts'
import { ExecutionList } from './schemas.ts'
import { searchOf, searchQuery, workflowQuery } from './search-query.ts'

const { worker_name: _, ...filters } = searchQuery

export const listWorkerExecutions = route('get', '/workers/{name}/executions', {
  summary: 'List the executions that a worker holds or was the last one to hold, newest first',
  isExpensive: true,
  isShared: true,
  access: 'may list executions',
  query: { ...workflowQuery, ...filters },
  returns: ExecutionList,
  handle: async ({ params, query, resolved: visible }, deps: ListDeps) =>
    listView(deps, visible, searchOf({ ...query, worker_name: params.name })),
})
