import { type Forecast, getForecast } from '../api/schedules.ts'
import { serverNow } from '../api/server-clock.ts'
import { useQuery } from '../api/use-query.ts'
import { clock, count } from '../format/time.ts'
import { scheduleAddress } from '../location/address.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { daysOf, type ForecastDay, listedUntil } from './forecast-days.ts'

const EVERY_MS = 60_000
const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
/** Times at which several of the listed schedules fire. */
const MAX_CLASHES = 10
const STRENGTHS = 4
/** Schedules whose runs are left out that are named. */
const MAX_NAMED = 5

/** Runs of the next seven days: when, how many at a time, and where clocks change. */
export function ForecastTab() {
  const answer = useQuery('forecast', getForecast, { every: EVERY_MS })
  return (
    <Loaded answer={answer} lines={8}>
      {(forecast) =>
        forecast.ticks.length === 0 ? (
          <Empty title="No run in the next seven days" />
        ) : (
          <>
            <Calendar days={daysOf(forecast)} />
            <LeftOut forecast={forecast} />
            {forecast.looked_at < forecast.active && (
              <p class="stale">
                {count(forecast.looked_at)} of {count(forecast.active)} schedules were looked at.
              </p>
            )}
            <Clashes forecast={forecast} />
            <ClockChanges forecast={forecast} />
          </>
        )
      }
    </Loaded>
  )
}

/** Says from when on runs are missing, and of which schedules. */
function LeftOut({ forecast }: { forecast: Forecast }) {
  const until = listedUntil(forecast)
  if (until === Number.POSITIVE_INFINITY) return null
  const cut = forecast.schedules.filter(({ listed_until }) => listed_until !== null)
  return (
    <>
      <p class="stale">
        All runs until {clock(until, serverNow())} are listed. A + marks hours that may have more.
      </p>
      {cut.length > 0 && (
        <p>
          Of schedules that fire often only the first runs are listed:{' '}
          {cut.slice(0, MAX_NAMED).map(({ schedule_id, name }, i) => (
            <span key={schedule_id}>
              {i > 0 && ', '}
              <Link to={scheduleAddress(schedule_id)}>{name}</Link>
            </span>
          ))}
          {cut.length > MAX_NAMED && ` and ${count(cut.length - MAX_NAMED)} more`}.
        </p>
      )}
    </>
  )
}

const More = ({ isWhole }: { isWhole: boolean }) =>
  isWhole ? null : (
    <span class="more" title="There may be more runs than are listed.">
      +
    </span>
  )

const dayText = (start: number) =>
  new Date(start).toLocaleDateString('en', { weekday: 'short', day: 'numeric', month: 'short' })

function Calendar({ days }: { days: readonly ForecastDay[] }) {
  const peak = Math.max(1, ...days.flatMap(({ hours }) => hours.map(({ ticks }) => ticks)))
  return (
    <section class="page-body" aria-label="Calendar">
      <p class="faint">
        Runs of each hour on the clock of this browser. The busiest hour has {count(peak)}
        {days.every(({ isWhole }) => isWhole) ? '' : ' or more'}.
      </p>
      <div class="table-frame" tabIndex={0} role="region" aria-label="Calendar of runs">
        <table class="calendar" aria-label="Runs by day and hour">
          <thead>
            <tr>
              <th scope="col">Day</th>
              {HOURS.map((hour) => (
                <th key={hour} scope="col" aria-label={`${hour}:00`}>
                  {hour}
                </th>
              ))}
              <th scope="col">Runs</th>
              <th scope="col">At a time</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ start, hours, ticks, most, isWhole }) => (
              <tr key={start}>
                <th scope="row">{dayText(start)}</th>
                {hours.map((hour, i) => (
                  <td
                    key={i}
                    class={`load-${Math.ceil((hour.ticks / peak) * STRENGTHS)}`}
                    title={`${hour.ticks} runs of ${hour.schedules} schedules`}
                  >
                    {hour.ticks || ''}
                    <More isWhole={hour.isWhole} />
                  </td>
                ))}
                <td>
                  {count(ticks)}
                  <More isWhole={isWhole} />
                </td>
                <td>
                  {count(most)}
                  <More isWhole={isWhole} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Clashes({ forecast: { clashes, schedules } }: { forecast: Forecast }) {
  if (clashes.length === 0) return null
  const nameOf = new Map(schedules.map((one) => [one.schedule_id, one.name]))
  return (
    <section class="page-body" aria-label="Overlaps">
      <h2>Several at the same moment</h2>
      <DataTable label="Overlaps" heads={['When', 'Schedules', 'Of the same workflow']}>
        {clashes.slice(0, MAX_CLASHES).map(({ at, schedule_ids, workflows, count: all }) => (
          <tr key={at}>
            <td class="num">{clock(Date.parse(at), serverNow())}</td>
            <td>
              {schedule_ids.map((id, i) => (
                <span key={id}>
                  {i > 0 && ', '}
                  <Link to={scheduleAddress(id)}>{nameOf.get(id) ?? id}</Link>
                </span>
              ))}
              {all > schedule_ids.length && ` and ${count(all - schedule_ids.length)} more`}
            </td>
            <td>{workflows.join(', ') || '–'}</td>
          </tr>
        ))}
      </DataTable>
      {clashes.length > MAX_CLASHES && (
        <p class="faint">{count(clashes.length - MAX_CLASHES)} more moments are not listed.</p>
      )}
    </section>
  )
}

function ClockChanges({ forecast: { schedules } }: { forecast: Forecast }) {
  const changes = schedules.flatMap(({ name, schedule_id, clock_changes }) =>
    clock_changes.map((change) => ({ name, schedule_id, ...change })),
  )
  if (changes.length === 0) return null
  return (
    <section class="page-body" aria-label="Clock changes">
      <h2>Clock changes</h2>
      <ul class="text-links">
        {changes.map(({ name, schedule_id, at, kind, timezone, local_times }) => (
          <li key={`${schedule_id} ${at}`}>
            <Link to={scheduleAddress(schedule_id)}>{name}</Link>: {local_times.join(', ')}{' '}
            {kind === 'gap' ? 'does not exist' : 'comes twice'} in {timezone}
          </li>
        ))}
      </ul>
    </section>
  )
}
