import { count, duration } from '../format/time.ts'
import { DataTable } from '../ui/data-table.tsx'
import { marksOf, STATE_WORDS, wordOf } from './call-words.ts'
import { type Call, triesOf } from './calls.ts'

/** Rows of the table; of more calls those of a part of the time can be chosen. */
const MAX_ROWS = 500
const NUMBERS = ['Entry', 'Level', 'Began', 'Took', 'Tries']
const HEADS = ['Entry', 'Call', 'Level', 'State', 'Began', 'Took', 'Tries', 'Marks']

interface Props {
  calls: readonly Call[]
  /** Begin of the execution. */
  base: number
  /** End of what has happened so far. */
  now: number
  isOpen: boolean
  onToggle: (isOpen: boolean) => void
}

/** The calls of the part of the time that is shown, in numbers and words. */
export const CallTable = ({ calls, base, now, isOpen, onToggle }: Props) => (
  <details
    class="call-table"
    open={isOpen}
    onToggle={({ currentTarget }) => currentTarget.open !== isOpen && onToggle(!isOpen)}
  >
    <summary aria-label="As a table: calls of tasks">As a table</summary>
    {isOpen && (
      <div class="chart-table">
        <DataTable label="Calls of tasks" heads={HEADS} right={NUMBERS}>
          {calls.slice(0, MAX_ROWS).map((call) => (
            <Row key={call.seq} call={call} base={base} now={now} />
          ))}
        </DataTable>
        {calls.length > MAX_ROWS && (
          <p class="stale">
            Cut: the first {count(MAX_ROWS)} of {count(calls.length)} calls. Choose a part of the
            time above to see those in it.
          </p>
        )}
      </div>
    )}
  </details>
)

const Row = ({ call, base, now }: Pick<Props, 'base' | 'now'> & { call: Call }) => (
  <tr>
    <td class="num right">{call.seq}</td>
    <th scope="row">
      <bdi>{call.name}</bdi>
    </th>
    <td class="num right">{call.depth + 1}</td>
    <td>{STATE_WORDS[call.state]}</td>
    <td class="num right">{duration(call.from - base)}</td>
    <td class="num right">
      {call.to === undefined
        ? `${duration(Math.max(0, now - call.from))} so far`
        : duration(call.to - call.from)}
    </td>
    <td class="num right">{triesOf(call).length}</td>
    <td>
      {marksOf(call)
        .map((name) => wordOf(name, call))
        .join(', ')}
    </td>
  </tr>
)
