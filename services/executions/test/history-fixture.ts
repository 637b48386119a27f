import { HistoryService, type SearchRequest } from '@windlass/proto/windlass/executions/v1/history'
import { clientOf } from '@windlass/testkit/service-identity'
import { onTestFinished } from 'vitest'
import { setup } from './executions-fixture.ts'

export const ALL = { all: true, workflows: [], ids: [] }
export const NO_FILTER: SearchRequest = {
  visible: ALL,
  states: [],
  ...{ workflow_namespace: '', workflow_name: '', workflow_version: 0 },
  ...{ schedule_id: '', worker_name: '', created_by: '', parent_id: '', id_prefix: '', error: '' },
  ...{ created_after: undefined, created_before: undefined },
  ...{ finished_after: undefined, finished_before: undefined, payload: undefined, tags: {} },
  ...{ by_finish: false, ascending: false, cursor: '', limit: 50, offset: 0 },
}

/** The service with a client of its history. */
export async function searchSetup() {
  const { client, db, ports } = await setup()
  const history = clientOf(
    HistoryService,
    ports.map((port) => `127.0.0.1:${port}`),
  )
  onTestFinished(() => history.close())
  const search = (filter: Partial<SearchRequest> = {}) =>
    history.search({ ...NO_FILTER, ...filter })
  return { client, db, history, search }
}
