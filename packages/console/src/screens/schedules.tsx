import { createSchedule, listSchedules, type ScheduleRow } from '../api/schedules.ts'
import { useQuery } from '../api/use-query.ts'
import { count, millis } from '../format/time.ts'
import { fieldText } from '../format/words.ts'
import { lists } from '../live/feed.ts'
import { changed, scheduleAddress, workflowAddress } from '../location/address.ts'
import { navigateFromHere } from '../location/location.ts'
import { ForecastTab } from '../schedules/forecast.tsx'
import { ruleOf } from '../schedules/rule.ts'
import { ScheduleForm } from '../schedules/schedule-form.tsx'
import { ScheduleSwitch } from '../schedules/schedule-switch.tsx'
import type { ScreenProps } from '../shell/app.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Page } from '../ui/page.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Ago } from '../ui/times.tsx'

const EVERY_MS = 10_000
const TABS = [
  { name: 'list', label: 'Schedules' },
  { name: 'forecast', label: 'Next seven days' },
]

/** All schedules that the caller may read, and the runs of the next seven days. */
export function SchedulesScreen({ place: { query } }: ScreenProps) {
  const tab = query.get('tab') ?? 'list'
  const answer = useQuery('schedules', listSchedules, { every: EVERY_MS, live: lists.schedules })
  return (
    <Page title="Schedules" aside={answer.data && <span class="count">{answer.data.length}</span>}>
      <Tabs
        label="Parts of the screen"
        tabs={TABS}
        current={tab}
        to={(name) => changed('schedules', query, { tab: name === 'list' ? undefined : name })}
      />
      {tab === 'forecast' ? (
        <ForecastTab />
      ) : (
        <>
          <NewSchedule />
          <Loaded answer={answer}>
            {(rows) =>
              rows.length === 0 ? (
                <Empty title="No schedule yet">
                  <p>A workflow can declare one, and the form above makes one.</p>
                </Empty>
              ) : (
                <Rows rows={rows} onChange={answer.refresh} />
              )
            }
          </Loaded>
        </>
      )}
    </Page>
  )
}

function NewSchedule() {
  return (
    <ScheduleForm
      title="New schedule"
      submit="Create the schedule"
      // A permission may be for one workflow alone, which the server decides.
      refusal={undefined}
      save={async (draft, fields) => {
        const go = navigateFromHere()
        const [namespace = '', ...name] = fieldText(fields, 'workflow').split('/')
        const workflow = { namespace, name: name.join('/') }
        go(scheduleAddress(await createSchedule(workflow, fieldText(fields, 'name'), draft)))
      }}
    />
  )
}

const NUMBERS = ['Runs', 'Failed']
const HEADS = ['Schedule', 'Status', 'When', 'Next', 'Last', ...NUMBERS, '']

function Rows({ rows, onChange }: { rows: readonly ScheduleRow[]; onChange: () => void }) {
  const now = useNow()
  return (
    <DataTable label="Schedules" heads={HEADS} right={NUMBERS}>
      {rows.map((row) => (
        <tr key={row.id}>
          <th scope="row" class="stacked">
            <Link to={scheduleAddress(row.id)} class="name">
              <bdi>{row.name}</bdi>
            </Link>
            <br />
            <Link to={workflowAddress(row.workflow_namespace, row.workflow_name)} class="faint">
              {row.workflow_namespace}/{row.workflow_name}
            </Link>
          </th>
          <td>
            <StatusBadge status={row.status} />
          </td>
          <td class="mono">{ruleOf(row)}</td>
          <td class="num">
            <Ago at={millis(row.next_run_at)} now={now} />
          </td>
          <td class="num">
            <Ago at={millis(row.last_run_at)} now={now} />
          </td>
          <td class="num right">{count(row.run_count)}</td>
          <td class={row.failure_count > 0 ? 'num right tone-bad' : 'num right'}>
            {count(row.failure_count)}
          </td>
          <td class="right">
            <ScheduleSwitch row={row} onChange={onChange} />
          </td>
        </tr>
      ))}
    </DataTable>
  )
}
