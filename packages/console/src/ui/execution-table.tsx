import { Component } from 'preact'
import type { ExecutionRow } from '../api/executions.ts'
import { hasEnded } from '../format/states.ts'
import { duration, millis } from '../format/time.ts'
import { executionAddress, workflowAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import { returnedTo } from '../location/returned.ts'
import { ExecutionLink, shortId } from './execution-link.tsx'
import { Link } from './link.tsx'
import { Since, SoFar } from './running-times.tsx'
import { StateBadge } from './state-badge.tsx'
import { isLong, partsOf, TablePart } from './table-part.tsx'

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

const HEADS = ['State', 'Workflow', 'Execution', 'Created', 'Took', 'Worker']

/** Rows of executions, each with a link to its own screen. Of a long table those near the view are drawn. */
export class ExecutionTable extends Component<TableProps> {
  /** Rows that were selected at the last drawing. */
  #chosenBefore: ReadonlySet<string> | undefined

  override componentDidUpdate(): void {
    this.#chosenBefore = this.props.selection?.chosen
  }

  override render() {
    const { rows, selection } = this.props
    const chosen = selection?.chosen
    const before = this.#chosenBefore
    const hasChanged = ({ execution_id: id }: ExecutionRow) => chosen?.has(id) !== before?.has(id)
    const isPartial = isLong(rows.length)
    let offset = 0
    return (
      <div class="table-frame">
        <table
          class={`rows clickable${isPartial ? ' long' : ''}`}
          aria-label="Executions"
          aria-rowcount={isPartial ? rows.length + 1 : undefined}
        >
          <Heads rows={rows} selection={selection} />
          {partsOf(rows).map((part, i) => {
            const first = offset
            offset += part.length
            return (
              <TablePart
                key={`${isPartial} ${i}`}
                rows={part}
                offset={first}
                columns={HEADS.length + (selection ? 1 : 0)}
                isPartial={isPartial}
                isReturnedTo={part.some(({ execution_id: id }) => id === returnedTo()?.row?.id)}
                hasChanged={hasChanged}
                render={(row, index) => (
                  <Row
                    key={row.execution_id}
                    row={row}
                    // The head is the first row.
                    index={isPartial ? index + 2 : undefined}
                    isChosen={chosen?.has(row.execution_id)}
                    onChoose={selection?.onChoose}
                  />
                )}
              />
            )
          })}
        </table>
      </div>
    )
  }
}

function Heads({ rows, selection }: TableProps) {
  const ids = rows.map(({ execution_id }) => execution_id)
  return (
    <thead>
      <tr>
        {selection && (
          <th scope="col" class="check">
            <Check
              label="Select all rows"
              isChecked={ids.every((id) => selection.chosen.has(id))}
              onChange={(isChosen) => selection.onChoose(ids, isChosen)}
            />
          </th>
        )}
        {HEADS.map((head) => (
          <th key={head} scope="col" class={`head-${head.toLowerCase()}`}>
            {head}
          </th>
        ))}
      </tr>
    </thead>
  )
}

interface CheckProps {
  label: string
  isChecked: boolean
  onChange: (isChecked: boolean) => void
}

/** A checkbox that is as large as its cell: a press next to it would open the row. */
const Check = ({ label, isChecked, onChange }: CheckProps) => (
  <label class="check-area">
    <input
      type="checkbox"
      aria-label={label}
      checked={isChecked}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  </label>
)

interface RowProps {
  row: ExecutionRow
  /** Place in a table of which not every row is drawn. */
  index: number | undefined
  /** Undefined where rows cannot be selected. */
  isChosen: boolean | undefined
  onChoose: RowSelection['onChoose'] | undefined
}

/** Renders again only when its row is another object; `keepSame` leaves unchanged rows as they are. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate({ row, isChosen, index }: RowProps): boolean {
    const { props } = this
    return row !== props.row || isChosen !== props.isChosen || index !== props.index
  }

  /** The function of the last properties: a row is not rendered again for a new one. */
  readonly #choose = (isChosen: boolean) =>
    this.props.onChoose?.([this.props.row.execution_id], isChosen)

  override render() {
    const { row, isChosen, index } = this.props
    const { execution_id, workflow_namespace, workflow_name, state, worker_name } = row
    const to = executionAddress(execution_id)
    return (
      <tr data-row={execution_id} aria-rowindex={index} onClick={(event) => openRow(event, to)}>
        {isChosen !== undefined && (
          <td class="check">
            <Check
              label={`Select ${workflow_name} ${shortId(execution_id)}`}
              isChecked={isChosen}
              onChange={this.#choose}
            />
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
        <th scope="row" class="id">
          <ExecutionLink id={execution_id} />
        </th>
        <Times row={row} />
        <td class="id mono faint">{worker_name || '–'}</td>
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
  const isOwn = target instanceof Element && target.closest('a, button, label') !== null
  if (!isOwn && document.getSelection()?.isCollapsed) navigate(to)
}
