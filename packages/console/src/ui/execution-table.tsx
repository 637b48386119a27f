import type { ExecutionRow } from '../api/executions.ts'
import { hasEnded } from '../format/states.ts'
import { millis } from '../format/time.ts'
import { executionAddress, workflowAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import { Link } from './link.tsx'
import { useNow } from './now.ts'
import { StateBadge } from './state-badge.tsx'
import { Ago, Took } from './times.tsx'

/** Rows of executions, each with a link to its own screen. */
export function ExecutionTable({ rows }: { rows: readonly ExecutionRow[] }) {
  const now = useNow()
  return (
    <div class="table-frame">
      <table class="rows clickable">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Workflow</th>
            <th scope="col">Execution</th>
            <th scope="col">Created</th>
            <th scope="col">Took</th>
            <th scope="col">Worker</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.execution_id} row={row} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ row, now }: { row: ExecutionRow; now: number }) {
  const { execution_id, workflow_namespace, workflow_name, state, worker_name } = row
  const created = millis(row.created_at)
  const isOpen = !hasEnded(state)
  const end = isOpen ? now : millis(row.updated_at)
  const took = created === undefined || end === undefined ? undefined : Math.max(0, end - created)
  const to = executionAddress(execution_id)
  const open = (event: MouseEvent) => {
    const isOwn = event.target instanceof Element && event.target.closest('a, button') !== null
    if (!isOwn && document.getSelection()?.isCollapsed) navigate(to)
  }
  return (
    <tr onClick={open}>
      <td>
        <StateBadge state={state} />
      </td>
      <td class="wide">
        <Link to={workflowAddress(workflow_namespace, workflow_name)} class="name">
          <span class="faint">{workflow_namespace}/</span>
          <bdi>{workflow_name}</bdi>
        </Link>
      </td>
      <td>
        <Link to={to} class="mono" title={execution_id}>
          {execution_id.slice(0, 8)}…{execution_id.slice(-6)}
        </Link>
      </td>
      <td class="num">
        <Ago at={created} now={now} />
      </td>
      <td class="num">
        <Took ms={took} isOpen={isOpen} />
      </td>
      <td class="mono faint">{worker_name || '–'}</td>
    </tr>
  )
}
