import type { BulkAct, BulkAction, BulkProgress } from './bulk.ts'
import type { ExecutionRow } from './executions.ts'
import { fork, rerun } from './repeats.ts'
import { send, sendRepeatable } from './server.ts'
import { workflowPath } from './workflows.ts'

const pathOf = ({ workflow_namespace, workflow_name }: ExecutionRow) =>
  workflowPath(workflow_namespace, workflow_name)

/** Requests the cancel of an execution; a second request has no further effect. */
const cancel = (row: ExecutionRow): Promise<string> =>
  sendRepeatable({ method: 'GET', path: `${pathOf(row)}/cancel/${row.execution_id}` })

/** Resumes an execution. Sent only once, because a second request could resume a later pause. */
const resume = (row: ExecutionRow): Promise<string> =>
  send({ method: 'POST', path: `${pathOf(row)}/resume/${row.execution_id}/async`, body: 'null' })

type Act = (row: ExecutionRow, options: Omit<BulkAct, 'action'>) => Promise<string>

const ACTS: Record<BulkAction, Act> = {
  cancel,
  resume,
  rerun: ({ execution_id }, again) => rerun(execution_id, again),
  fork: ({ execution_id }, { after = 0, ...again }) => fork(execution_id, after, again),
}

/** Acts on executions one after another; yields the progress after each. */
export async function* actOnEach(
  rows: readonly ExecutionRow[],
  { action, ...options }: BulkAct,
): AsyncGenerator<BulkProgress> {
  const failures: { execution_id: string; reason: string }[] = []
  for (const [i, row] of rows.entries()) {
    try {
      await ACTS[action](row, options)
    } catch (error) {
      failures.push({ execution_id: row.execution_id, reason: (error as Error).message })
    }
    const done = i + 1 - failures.length
    yield { total: rows.length, done, failed: failures.length, stopped: false, failures }
  }
}
