import { getHistory } from '../api/schedules.ts'
import { useQuery } from '../api/use-query.ts'
import { viewOf } from '../format/states.ts'
import { millis } from '../format/time.ts'
import { lists } from '../live/feed.ts'
import { changed, wholeOf } from '../location/address.ts'
import type { Place } from '../location/location.ts'
import { DataTable } from '../ui/data-table.tsx'
import { ExecutionLink } from '../ui/execution-link.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { useNow } from '../ui/now.ts'
import { Pager } from '../ui/pager.tsx'
import { Clock } from '../ui/times.tsx'

const PAGE = 25
const EVERY_MS = 10_000

/** Ticks of a schedule, newest first: the execution of each, or the reason why there is none. */
export function TickList({ id, place: { path, query } }: { id: string; place: Place }) {
  const offset = wholeOf(query.get('offset'), 0)
  const now = useNow()
  const answer = useQuery(
    `history ${id} ${offset}`,
    (signal) => getHistory(id, { limit: PAGE, offset }, signal),
    offset === 0 ? { every: EVERY_MS, live: lists.schedules } : {},
  )
  return (
    <section class="page-body" aria-label="History">
      <h2>History</h2>
      <Loaded answer={answer} lines={4}>
        {({ entries, total }) =>
          entries.length === 0 ? (
            <Empty title="It has not fired yet" />
          ) : (
            <>
              <DataTable label="History" heads={['Planned for', 'Result', 'Execution', 'Reason']}>
                {entries.map(({ execution_id, state, scheduled_for, error }) => (
                  <tr key={`${scheduled_for} ${execution_id}`}>
                    <td class="num">
                      <Clock at={millis(scheduled_for)} now={now} />
                    </td>
                    <td>{viewOf(state).word}</td>
                    <td>
                      {execution_id ? (
                        <ExecutionLink id={execution_id} />
                      ) : (
                        <span class="faint">none</span>
                      )}
                    </td>
                    <td class="wide">
                      <bdi>{error ?? ''}</bdi>
                    </td>
                  </tr>
                ))}
              </DataTable>
              <Pager
                {...{ offset, total, limit: PAGE, shown: entries.length }}
                to={(row) => changed(path, query, { offset: row })}
              />
            </>
          )
        }
      </Loaded>
    </section>
  )
}
