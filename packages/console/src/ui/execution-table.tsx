import { Component } from 'preact'
import type { ExecutionRow } from '../api/executions.ts'
import { hasEnded } from '../format/states.ts'
import { duration, millis } from '../format/time.ts'
import { executionAddress, workflowAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import { Link } from './link.tsx'
import { Since, SoFar } from './running-times.tsx'
import { StateBadge } from './state-badge.tsx'

/** Rows of executions, each with a link to its own screen. */
export function ExecutionTable({ rows }: { rows: readonly ExecutionRow[] }) {
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
            <Row key={row.execution_id} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Renders again only when its row is another object; `keepSame` leaves unchanged rows as they are. */
class Row extends Component<{ row: ExecutionRow }> {
  override shouldComponentUpdate({ row }: { row: ExecutionRow }): boolean {
    return row !== this.props.row
  }

  override render() {
    const { row } = this.props
    const { execution_id, workflow_namespace, workflow_name, state, worker_name } = row
    const to = executionAddress(execution_id)
    return (
      <tr onClick={(event) => openRow(event, to)}>
        <td>
          <StateBadge state={state} />
        </td>
        <td class="wide">
          <Link to={workflowAddress(workflow_namespace, workflow_name)} class="name">
            <span class="faint">{workflow_namespace}/</span>
            <bdi>{workflow_name}</bdi>
          </Link>
          {row.error && <ErrorLine text={row.error} />}
        </td>
        <td>
          <Link to={to} class="mono" title={execution_id}>
            {execution_id.slice(0, 8)}…{execution_id.slice(-6)}
          </Link>
        </td>
        <Times row={row} />
        <td class="mono faint">{worker_name || '–'}</td>
      </tr>
    )
  }
}

/** The first line of the error, where the reason of many failures is seen without opening them. */
const ErrorLine = ({ text }: { text: string }) => (
  <div class="error-line" title={text}>
    <bdi>{text}</bdi>
  </div>
)

function Times({ row: { created_at, updated_at, finished_at, state } }: { row: ExecutionRow }) {
  const created = millis(created_at)
  const ended = hasEnded(state) ? millis(finished_at ?? updated_at) : undefined
  return (
    <>
      <td class="num">{created !== undefined && <Since at={created} />}</td>
      <td class="num">
        {created !== undefined &&
          (ended === undefined ? <SoFar from={created} /> : duration(Math.max(0, ended - created)))}
      </td>
    </>
  )
}

/** A click anywhere in a row opens it, but not one on a link or one that ends a selection of text. */
function openRow({ target }: MouseEvent, to: string): void {
  const isOwn = target instanceof Element && target.closest('a, button') !== null
  if (!isOwn && document.getSelection()?.isCollapsed) navigate(to)
}
