import { useRefusal } from '../api/permissions.ts'
import {
  deleteSchedule,
  getNextTicks,
  getSchedule,
  NEXT_TICKS,
  type Schedule,
  updateSchedule,
} from '../api/schedules.ts'
import { serverNow } from '../api/server-clock.ts'
import { useQuery } from '../api/use-query.ts'
import { clock, millis } from '../format/time.ts'
import { lists } from '../live/feed.ts'
import { workflowAddress } from '../location/address.ts'
import { navigateFromHere } from '../location/location.ts'
import { ruleOf } from '../schedules/rule.ts'
import { OVERLAPS, ScheduleForm } from '../schedules/schedule-form.tsx'
import { managing, ScheduleSwitch } from '../schedules/schedule-switch.tsx'
import { TickList } from '../schedules/tick-list.tsx'
import type { ScreenProps } from '../shell/app.tsx'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { JsonView } from '../ui/json-view.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { useAct } from '../ui/use-act.ts'
import { useEdited } from '../ui/use-edited.ts'

const EVERY_MS = 10_000

/** One schedule: its rule, its next runs, its history, and its change. */
export function ScheduleScreen({ rest: [id = ''], place }: ScreenProps) {
  const answer = useQuery(`schedule ${id}`, (signal) => getSchedule(id, signal), {
    every: EVERY_MS,
    live: lists.schedules,
  })
  const { data } = answer
  return (
    <Page
      title={data?.name ?? 'Schedule'}
      aside={data && <StatusBadge status={data.status} />}
      actions={
        data && (
          <>
            <ScheduleSwitch row={data} onChange={answer.refresh} />
            <Delete schedule={data} />
          </>
        )
      }
    >
      <Loaded answer={answer} lines={8}>
        {(schedule) => (
          <>
            <Detail schedule={schedule} />
            <Change schedule={schedule} refresh={answer.refresh} />
            <TickList id={schedule.id} place={place} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Detail({ schedule }: { schedule: Schedule }) {
  const { workflow_namespace, workflow_name, input_problem } = schedule
  return (
    <>
      <Facts
        facts={[
          [
            'Workflow',
            <Link key="workflow" to={workflowAddress(workflow_namespace, workflow_name)}>
              {workflow_namespace}/{workflow_name}
            </Link>,
          ],
          ['When', ruleOf(schedule)],
          ['While an earlier run goes on, a tick', overlapOf(schedule)],
          ['Runs as', schedule.run_as_service_account ?? 'its creator'],
          ['Runs', schedule.run_count],
          ['Failed', schedule.failure_count],
        ]}
      />
      {input_problem && (
        <p class="cause">The latest version of the workflow refuses its input: {input_problem}</p>
      )}
      <NextTicks schedule={schedule} />
      <JsonView title="Input" text={schedule.input} />
    </>
  )
}

const overlapOf = ({ overlap }: Schedule) =>
  OVERLAPS.find(([value]) => value === overlap)?.[1] ?? overlap

/** Characters of the seconds of a time in RFC 3339. */
const SECONDS_END = 19

/** The time on the clock of the schedule, without the fraction and the offset. */
const zonedOf = (local: string) => local.slice(0, SECONDS_END).replace('T', ' ')

function NextTicks({ schedule: { id, status, next_run_at } }: { schedule: Schedule }) {
  const answer = useQuery(`next ${id} ${next_run_at}`, (signal) => getNextTicks(id, signal))
  return (
    <section class="card" aria-label="Next runs">
      <h2>{status === 'paused' ? 'Next runs, if it were resumed now' : 'Next runs'}</h2>
      <div class="next-ticks">
        <Loaded answer={answer} lines={NEXT_TICKS}>
          {({ next, timezone }) =>
            next.length === 0 ? (
              <p class="faint">none</p>
            ) : (
              <ul>
                {next.map(({ at, local }) => (
                  <li key={at}>
                    {clock(millis(at) ?? 0, serverNow())}{' '}
                    <span class="faint">
                      {zonedOf(local)} {timezone}
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
    </section>
  )
}

const fieldsOf = ({ schedule_config, overlap, input }: Schedule) =>
  JSON.stringify([schedule_config, overlap, input])

function Change({ schedule, refresh }: { schedule: Schedule; refresh: () => void }) {
  const refusal = useRefusal(managing(schedule))
  const read = () => getSchedule(schedule.id)
  const edited = useEdited({ stored: schedule, textOf: fieldsOf, read, refresh })
  return (
    <ScheduleForm
      title="Change the schedule"
      submit="Change the schedule"
      {...{ edited, refusal }}
      save={async (draft, _, now = schedule) => {
        await updateSchedule(now, draft)
        refresh()
      }}
    />
  )
}

function Delete({ schedule }: { schedule: Schedule }) {
  const refusal = useRefusal(managing(schedule))
  const { isBusy, failure, act } = useAct()
  return (
    <>
      <ConfirmButton
        label="Delete"
        icon="close"
        {...{ isBusy, refusal }}
        question={`Delete the schedule ${schedule.name}?`}
        text="It does not fire again. Executions that it started continue. This cannot be taken back."
        confirm="Delete the schedule"
        onConfirm={() =>
          void act(async () => {
            const go = navigateFromHere()
            await deleteSchedule(schedule.id)
            go('schedules')
          })
        }
      />
      {failure && (
        <span class="failure-text" role="alert">
          {failure}
        </span>
      )}
    </>
  )
}
