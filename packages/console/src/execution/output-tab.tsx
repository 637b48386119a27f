import { type CapturedLine, LEVELS } from '../api/lines.ts'
import { serverNow } from '../api/server-clock.ts'
import { hasEnded } from '../format/states.ts'
import { clock, count, millis } from '../format/time.ts'
import { changed, executionAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { VisibleText } from '../ui/visible-text.tsx'
import { useLines } from './use-lines.ts'

interface Props {
  id: string
  state: string
  query: URLSearchParams
}

/** Lines that the code wrote with print and logging; level and call are in the address. */
export function OutputTab({ id, state, query }: Props) {
  const level = LEVELS.find((one) => one === query.get('level')) ?? 'debug'
  const task_id = query.get('task_id') ?? undefined
  const isOpen = !hasEnded(state)
  const answer = useLines(id, { level, task_id }, isOpen)
  const to = (values: Record<string, string | undefined>) =>
    changed(executionAddress(id), query, values)
  return (
    <div class="page-body">
      <div class="filters">
        <label class="text-filter">
          <span>Level, at least</span>
          <select
            value={level}
            onChange={(event) => navigate(to({ level: event.currentTarget.value }))}
          >
            {LEVELS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        {task_id !== undefined && (
          <Link
            to={to({ task_id: undefined })}
            class="quiet-link"
            aria-label={`Of one call only: ${task_id}, remove`}
          >
            <Icon name="close" /> Of one call only: <code>{task_id}</code>
          </Link>
        )}
        {answer.data && (
          <CopyButton
            label="Copy"
            name="Copy the lines"
            text={() => textOf(answer.data?.lines ?? [])}
          />
        )}
      </div>
      <Loaded answer={answer}>
        {({ lines, more }) => (
          <>
            {lines.length === 0 && <NoLines isOpen={isOpen} />}
            {lines.length > 0 && <Lines lines={lines} toCall={(call) => to({ task_id: call })} />}
            {more && (
              <p class="stale">
                The first {count(lines.length)} lines; there are more.
                <button type="button" aria-label="Show more lines" onClick={answer.readMore}>
                  Show more
                </button>
              </p>
            )}
          </>
        )}
      </Loaded>
    </div>
  )
}

const NoLines = ({ isOpen }: { isOpen: boolean }) => (
  <Empty title={isOpen ? 'The code has written nothing yet' : 'The code wrote nothing'}>
    <p>
      What it writes with <code>print</code> and <code>logging</code> is listed here, from the
      chosen level on.
    </p>
  </Empty>
)

function Lines({
  lines,
  toCall,
}: {
  lines: readonly CapturedLine[]
  toCall: (call: string) => string
}) {
  return (
    <ol class="card output" aria-label="Lines">
      {lines.map(({ seq, time, level, task_id, task_name, logger, message }) => (
        <li key={seq} class={`level-${level}`}>
          <time dateTime={time} title={time}>
            {clock(millis(time) ?? 0, serverNow())}
          </time>
          <span class="level">{level}</span>
          <span class="faint">
            {task_id && (
              <Link to={toCall(task_id)} aria-label={`Only lines of ${task_name}, call ${task_id}`}>
                <bdi>{task_name}</bdi>
              </Link>
            )}{' '}
            <bdi>{logger}</bdi>
          </span>
          <span class="line">
            <VisibleText text={message} />
          </span>
        </li>
      ))}
    </ol>
  )
}

/** The lines as text, as the log of a worker has them. */
const textOf = (lines: readonly CapturedLine[]): string =>
  lines
    .map(({ time, level, task_name, logger, message }) =>
      [time, level, task_name, logger, message].filter((part) => part !== '').join(' '),
    )
    .join('\n')
