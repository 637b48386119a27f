import type { BulkAct, BulkPreview } from '../api/bulk.ts'
import type { ExecutionRow } from '../api/executions.ts'
import { planFork } from '../api/repeats.ts'
import { useQuery } from '../api/use-query.ts'
import { count } from '../format/time.ts'
import { executionAddress } from '../location/address.ts'
import { refusalOf } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { executionsIn, SHOWN } from './actions.tsx'

function leftOut(number: number): string {
  if (number === 0) return ''
  const [be, them] = number === 1 ? ['is', 'it'] : ['are', 'them']
  return ` ${executionsIn(number)} more ${be} left out, since it does not apply to ${them}.`
}

interface Props {
  act: BulkAct
  preview: BulkPreview
}

/** What an act would change, with the first executions; for a fork also what would run again. */
export const Preview = ({ act, preview }: Props) => (
  <>
    <p>
      It applies to {executionsIn(preview.count)}.{leftOut(preview.left_out)}
      {preview.forbidden > 0 && ` You may not change ${count(preview.forbidden)} of them.`}
    </p>
    <ul class="mono">
      {preview.sample.slice(0, SHOWN).map((row) => (
        <li key={row.execution_id}>
          <Link to={executionAddress(row.execution_id)}>{row.execution_id}</Link>{' '}
          <bdi>{row.workflow_name}</bdi> {row.state}
          <Planned row={row} act={act} />
        </li>
      ))}
      {preview.count > SHOWN && <li class="faint">and {count(preview.count - SHOWN)} more</li>}
    </ul>
  </>
)

/** Number of calls that are named. */
const NAMED = 5

/** What a fork of one execution would run again; nothing for another action. */
export function Planned({ row, act }: { row: ExecutionRow; act: BulkAct }) {
  const { execution_id: id } = row
  const { after = 0, version, input } = act
  // What would run again does not depend on the input, which may have megabytes.
  const key =
    act.after === undefined ? undefined : `bulk fork ${JSON.stringify([id, after, version])}`
  const plan = useQuery(key, (signal) => planFork(id, { after, version, input }, signal))
  if (key === undefined) return null
  if (plan.error) return <div class="failure-text">{refusalOf(plan.error)}</div>
  if (!plan.data) return <div class="faint">…</div>
  const { entries, runs_again: again, cut } = plan.data
  const names = again.slice(0, NAMED).map(({ name }) => name)
  const isMore = cut || again.length > NAMED
  return (
    <div class="faint">
      begins with {count(entries)} {entries === 1 ? 'entry' : 'entries'};{' '}
      {names.length === 0 ? (
        'no call of it runs again'
      ) : (
        <>
          runs again: <bdi>{names.join(', ')}</bdi>
          {isMore && ' and more'}
        </>
      )}
    </div>
  )
}
