import { Component } from 'preact'
import type { ExecutionRow } from '../api/executions.ts'
import { hasEnded } from '../format/states.ts'
import { duration, millis } from '../format/time.ts'
import { executionAddress, workflowAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import { Link } from './link.tsx'
import { Since, SoFar } from './running-times.tsx'
import { StateBadge } from './state-badge.tsx'

interface RowSelection {
  chosen: ReadonlySet<string>
  /** Selects or leaves out executions by their ids. */
  onChoose: (ids: readonly string[], isChosen: boolean) => void
}

interface TableProps {
  rows: readonly ExecutionRow[]
  /** Absent where rows cannot be selected. */
  selection?: RowSelection
}

/** Rows of executions, each with a link to its own screen. */
export function ExecutionTable({ rows, selection }: TableProps) {
  const ids = rows.map(({ execution_id }) => execution_id)
  return (
    <div class="table-frame">
      <table class="rows clickable">
        <thead>
          <tr>
            {selection && (
              <th scope="col">
                <Check
                  label="Select all rows"
                  isChecked={ids.every((id) => selection.chosen.has(id))}
                  onChange={(isChosen) => selection.onChoose(ids, isChosen)}
                />
              </th>
            )}
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
            <Row
              key={row.execution_id}
              row={row}
              isChosen={selection?.chosen.has(row.execution_id)}
              onChoose={selection?.onChoose}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface CheckProps {
  label: string
  isChecked: boolean
  onChange: (isChecked: boolean) => void
}

const Check = ({ label, isChecked, onChange }: CheckProps) => (
  <input
    type="checkbox"
    aria-label={label}
    checked={isChecked}
    onChange={(event) => onChange(event.currentTarget.checked)}
  />
)

interface RowProps {
  row: ExecutionRow
  /** Undefined where rows cannot be selected. */
  isChosen: boolean | undefined
  onChoose: RowSelection['onChoose'] | undefined
}

/** Renders again only when its row is another object; `keepSame` leaves unchanged rows as they are. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate({ row, isChosen }: RowProps): boolean {
    return row !== this.props.row || isChosen !== this.props.isChosen
  }

  /** The function of the last properties: a row is not rendered again for a new one. */
  readonly #choose = (isChosen: boolean) =>
    this.props.onChoose?.([this.props.row.execution_id], isChosen)

  override render() {
    const { row, isChosen } = this.props
    const { execution_id, workflow_namespace, workflow_name, state, worker_name } = row
    const to = executionAddress(execution_id)
    return (
      <tr onClick={(event) => openRow(event, to)}>
        {isChosen !== undefined && (
          <td>
            <Check label={`Select ${execution_id}`} isChecked={isChosen} onChange={this.#choose} />
          </td>
        )}
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
  const isOwn = target instanceof Element && target.closest('a, button, input') !== null
  if (!isOwn && document.getSelection()?.isCollapsed) navigate(to)
}
