import { listSessions, revokeSession, type SessionRow } from '../api/sessions.ts'
import { useQuery } from '../api/use-query.ts'
import { browserOf } from '../format/browser.ts'
import { clock, millis } from '../format/time.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { FailureText } from '../ui/failure-text.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { useNow } from '../ui/now.ts'
import { Ago } from '../ui/times.tsx'
import { useAct } from '../ui/use-act.ts'

const EVERY_MS = 15_000

/** Browsers in which the caller is signed in. */
export function SessionList() {
  const answer = useQuery('sessions', listSessions, { every: EVERY_MS })
  return (
    <section class="page-body" aria-label="Sessions">
      <h2>Where you are signed in</h2>
      <Loaded answer={answer} lines={2}>
        {({ sessions }) =>
          sessions.length === 0 ? (
            <p class="faint">No session is listed.</p>
          ) : (
            <Rows sessions={sessions} onDone={answer.refresh} />
          )
        }
      </Loaded>
    </section>
  )
}

interface Props {
  sessions: readonly SessionRow[]
  onDone: () => void
}

/** Names the session in the words of its row. */
const questionOf = (
  { user_agent, current, created_at }: Pick<SessionRow, 'user_agent' | 'current' | 'created_at'>,
  now: number,
): string =>
  `End the session of ${current ? 'this browser' : browserOf(user_agent)}, signed in ${clock(millis(created_at) ?? 0, now)}?`

function Rows({ sessions, onDone }: Props) {
  const now = useNow()
  const { isBusy, failure, act } = useAct()
  return (
    <>
      <DataTable label="Sessions" heads={['Browser', 'Signed in', 'Last used', '']}>
        {sessions.map(({ id, user_agent, current, ...times }) => (
          <tr key={id}>
            <th scope="row" title={user_agent}>
              <bdi>{browserOf(user_agent)}</bdi>{' '}
              {current && <span class="badge">this browser</span>}
            </th>
            <td class="num">
              <Ago at={millis(times.created_at)} now={now} />
            </td>
            <td class="num">
              <Ago at={millis(times.last_used_at)} now={now} />
            </td>
            <td class="right">
              <ConfirmButton
                label="End"
                icon="close"
                isBusy={isBusy}
                question={questionOf({ user_agent, current, created_at: times.created_at }, now)}
                text="The browser has to sign in again. The API key stays valid."
                confirm="End the session"
                onConfirm={() => void act(() => revokeSession(id)).finally(onDone)}
              />
            </td>
          </tr>
        ))}
      </DataTable>
      <FailureText text={failure} />
    </>
  )
}
