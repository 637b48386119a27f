import type { ExecutionRow, SearchRequest } from '@windlass/proto/windlass/executions/v1/history'
import { startGateway, workflow } from './gateway-fixture.ts'

const RUN = '/workflows/default/hello/run/async'

export const rowOf = (execution_id: string, state: string): ExecutionRow => ({
  ...{ execution_id, workflow_id: '0'.repeat(32), workflow_namespace: 'default', state },
  ...{ workflow_name: 'hello', workflow_version: 1, worker_name: '', created_by: '', attempts: 1 },
  ...{ schedule_id: '', parent_id: '', tags: {}, revision: 3, last_seq: 9 },
  ...{ created_at: new Date(0), updated_at: new Date(0), queued_at: undefined },
  ...{ started_at: undefined, finished_at: undefined },
})

const DONE = Promise.resolve()

/** A gateway whose search finds executions in these states, two on a page; `gone` ones do not exist. */
export async function setup(
  states: string[],
  { gone = 0, total = states.length, answers = DONE } = {},
) {
  const searches: SearchRequest[] = []
  let found: ExecutionRow[] = []
  const recorded: { action: string; outcome: string; detail_json: string }[] = []
  const gateway = await startGateway({
    catalog: { resolve: async ({ version }) => workflow({ version: version || 3 }) },
    audit: {
      record: async ({ records }) => {
        recorded.push(...records)
        return { seqs: records.map((_, i) => i + 1) }
      },
    },
    history: {
      async search(request) {
        searches.push(request)
        await answers
        const begin = Number(request.cursor || '0')
        const end = begin + 2
        const next_cursor = end < found.length ? String(end) : ''
        const rows = request.id_prefix ? [] : found.slice(begin, end)
        return { rows, total, total_exact: true, next_cursor, cut: false }
      },
    },
  })
  const { json, executions } = gateway
  for (const [i, state] of states.entries()) {
    await json('POST', RUN, i)
    const id = executions.last
    found = [...found, rowOf(id, state)]
    const made = executions.rows.get(id)
    if (made) made.execution = { ...made.execution, state }
    if (i < gone) executions.rows.delete(id)
  }
  const before = executions.commands.length
  const changes = () => executions.commands.slice(before)
  const bulk = (body: object, headers = {}) =>
    json('POST', '/executions/bulk', { filter: { namespace: 'default' }, ...body }, headers)
  const find = (row: ExecutionRow) => {
    found = [...found, row]
  }
  return { ...gateway, bulk, changes, find, searches, recorded }
}

/** The frames of a stream as names with data. */
export const framesOf = async (response: Response) =>
  (await response.text())
    .split('\n\n')
    .filter((frame) => frame.startsWith('event: '))
    .map((frame) => {
      const [event = '', data = ''] = frame.split('\n')
      return [event.slice(7), JSON.parse(data.slice(6))]
    })
