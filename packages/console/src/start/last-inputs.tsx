import { type ExecutionRow, listExecutions } from '../api/executions.ts'
import { useMe } from '../api/me.ts'
import { readRange } from '../api/server.ts'
import { useQuery } from '../api/use-query.ts'
import { decodePart } from '../exact/decode-part.ts'
import { millis } from '../format/time.ts'
import { executionAddress } from '../location/address.ts'
import { shortId } from '../ui/execution-link.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { Since } from '../ui/running-times.tsx'
import { StateBadge } from '../ui/state-badge.tsx'
import { VisibleText } from '../ui/visible-text.tsx'

const SHOWN = 5
/** Bytes of an input that are shown. */
const BEGIN = 160
/** Bytes of the longest character, which may begin before and end behind them. */
const CHARACTER = 4

interface Props {
  namespace: string
  name: string
  /** Address of the form with the input of an execution. */
  to: (execution: string) => string
}

/** The caller's last executions of a workflow, each with the begin of its input, which can be taken over. */
export function LastInputs({ namespace, name, to }: Props) {
  const me = useMe().data
  // While authentication is off the server knows no callers.
  const created_by = me?.features.authentication ? me.subject : undefined
  const query = { namespace, workflow_name: name, created_by, limit: String(SHOWN) }
  const answer = useQuery(me && `inputs ${JSON.stringify(query)}`, (signal) =>
    listExecutions(query, signal),
  )
  return (
    <section class="card" aria-label="Last inputs">
      <h2>Last inputs</h2>
      <Loaded answer={answer} lines={2}>
        {({ executions }) =>
          executions.length === 0 ? (
            <p class="faint">
              None yet: the inputs that you start this workflow with are listed here.
            </p>
          ) : (
            <ul class="last-inputs">
              {executions.map((row) => (
                <LastInput key={row.execution_id} row={row} to={to(row.execution_id)} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

function LastInput({ row, to }: { row: ExecutionRow; to: string }) {
  const { execution_id, state, created_at } = row
  const path = `/executions/${encodeURIComponent(execution_id)}/input`
  const { data, error } = useQuery(`begin of ${path}`, (signal) =>
    readRange(path, { from: 0, to: BEGIN + CHARACTER - 1 }, signal),
  )
  const created = millis(created_at)
  return (
    <li>
      <Link to={to} class="mono">
        {data ? <VisibleText text={beginOf(data)} /> : error ? 'not readable' : '…'}
        <span class="visually-hidden"> take over this input of {shortId(execution_id)}</span>
      </Link>
      <StateBadge state={state} />
      <Link to={executionAddress(execution_id)} class="faint">
        <span class="visually-hidden">Execution {shortId(execution_id)}, created </span>
        {created === undefined ? '–' : <Since at={created} />}
      </Link>
    </li>
  )
}

/** A text that goes further says so. */
const beginOf = ({ bytes, totalBytes }: { bytes: Uint8Array; totalBytes: number }): string =>
  `${decodePart(bytes, true, BEGIN)}${totalBytes > BEGIN ? '…' : ''}`
