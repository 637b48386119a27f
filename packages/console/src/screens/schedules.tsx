import { useState } from 'preact/hooks'
import { useRefusal } from '../api/permissions.ts'
import { listSchedules, type ScheduleRow, switchSchedule } from '../api/schedules.ts'
import { useQuery } from '../api/use-query.ts'
import { millis } from '../format/time.ts'
import { workflowAddress } from '../location/address.ts'
import { Empty, Loaded, problemOf } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Page } from '../ui/page.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { Ago } from '../ui/times.tsx'

const EVERY_MS = 10_000

/** All schedules that the caller may read, with their last and next run. */
export function SchedulesScreen() {
  const answer = useQuery('schedules', listSchedules, { every: EVERY_MS })
  return (
    <Page title="Schedules" aside={answer.data && <span class="count">{answer.data.length}</span>}>
      <Loaded answer={answer}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No schedule yet">
              <p>
                A workflow can declare one, and <code>npx windlass schedule create</code> makes one.
              </p>
            </Empty>
          ) : (
            <Rows rows={rows} onChange={answer.refresh} />
          )
        }
      </Loaded>
    </Page>
  )
}

function Rows({ rows, onChange }: { rows: readonly ScheduleRow[]; onChange: () => void }) {
  const now = useNow()
  return (
    <div class="table-frame">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">Schedule</th>
            <th scope="col">Status</th>
            <th scope="col">When</th>
            <th scope="col">Next</th>
            <th scope="col">Last</th>
            <th scope="col">Runs</th>
            <th scope="col">Failed</th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>
                <strong>
                  <bdi>{row.name}</bdi>
                </strong>
                <br />
                <Link to={workflowAddress(row.workflow_namespace, row.workflow_name)} class="faint">
                  {row.workflow_namespace}/{row.workflow_name}
                </Link>
              </td>
              <td>
                <StatusBadge status={row.status} />
              </td>
              <td class="mono">{whenOf(row)}</td>
              <td class="num">
                <Ago at={millis(row.next_run_at)} now={now} />
              </td>
              <td class="num">
                <Ago at={millis(row.last_run_at)} now={now} />
              </td>
              <td class="num">{row.run_count}</td>
              <td class={row.failure_count > 0 ? 'num tone-bad' : 'num'}>{row.failure_count}</td>
              <td class="right">
                <Switch row={row} onChange={onChange} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The rule of a schedule as it was written. */
function whenOf({ schedule_type, schedule_config: config }: ScheduleRow): string {
  if (typeof config.cron_expression === 'string')
    return `${config.cron_expression} ${String(config.timezone ?? 'UTC')}`
  if (typeof config.interval_seconds === 'number') return `every ${config.interval_seconds} s`
  return schedule_type
}

function Switch({ row, onChange }: { row: ScheduleRow; onChange: () => void }) {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState('')
  const refusal = useRefusal(`schedule:${row.workflow_namespace}:${row.workflow_name}:manage`)
  const act = row.status === 'paused' ? 'resume' : 'pause'
  const change = async () => {
    setBusy(true)
    try {
      await switchSchedule(row.id, act)
      setFailure('')
    } catch (error) {
      setFailure(problemOf(error as Error).text)
    } finally {
      setBusy(false)
      onChange()
    }
  }
  return (
    <>
      <button
        type="button"
        disabled={isBusy || refusal !== undefined}
        title={refusal}
        onClick={change}
        aria-label={`${act === 'pause' ? 'Pause' : 'Resume'} ${row.name}`}
      >
        {act === 'pause' ? 'Pause' : 'Resume'}
      </button>
      {failure && (
        <p class="failure-text" role="alert">
          {failure}
        </p>
      )}
    </>
  )
}
