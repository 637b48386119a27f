import { useEffect, useState } from 'preact/hooks'
import {
  actInBulk,
  type BulkAction,
  type BulkPreview,
  type BulkProgress,
  previewBulk,
  readBulk,
} from '../api/bulk.ts'
import type { Query } from '../api/server.ts'
import { useQuery } from '../api/use-query.ts'
import { count } from '../format/time.ts'
import { changed, executionAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import { FailureText } from '../ui/failure-text.tsx'
import { refusalOf } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { useAct } from '../ui/use-act.ts'
import { ActionChoice, classOf, executionsIn, labelOf, Progress, SHOWN } from './actions.tsx'

interface Props {
  /** The filter of the list; the act applies to all executions that match it. */
  filter: Query
  /** Id of an act that has begun, from the address. */
  running: string | undefined
  onDone: () => void
}

/** Acts on all executions of the filter, after showing what that changes. */
export function BulkPanel({ filter, running, onDone }: Props) {
  const [action, setAction] = useState<BulkAction>('cancel')
  const [preview, setPreview] = useState<BulkPreview>()
  const [frame, setFrame] = useState<BulkProgress>()
  const begun = useBulk(running)
  // Without Redis, only the frames report the progress.
  const progress = begun.data ?? frame
  const { isBusy, failure, act } = useAct()
  const look = () =>
    act(async () => {
      setFrame(undefined)
      showBulk(undefined)
      setPreview(await previewBulk(filter, action))
    })
  const perform = (expect: number) =>
    act(async () => {
      // The act continues at the server when this page is left; its id is in the address.
      for await (const one of actInBulk(filter, { action, expect })) {
        setFrame(one)
        showBulk(one.id)
      }
      setPreview(undefined)
      onDone()
    })
  return (
    <details class="card form-panel" open={running !== undefined || undefined}>
      <summary>Act on all that match</summary>
      <div class="filters">
        <ActionChoice
          {...{ action, isBusy }}
          onChange={(chosen) => {
            setAction(chosen)
            setPreview(undefined)
          }}
        />
        <button type="button" disabled={isBusy} onClick={look}>
          Show what it would change
        </button>
        {preview && (
          <button
            type="button"
            class={classOf(action)}
            disabled={isBusy || preview.count === 0}
            onClick={() => perform(preview.count)}
          >
            {labelOf(action)} {executionsIn(preview.count)}
          </button>
        )}
      </div>
      <div role="status">
        {preview && <Preview preview={preview} />}
        {progress && <Progress progress={progress} />}
      </div>
      <FailureText
        text={failure || (begun.error && !progress ? refusalOf(begun.error) : undefined)}
      />
    </details>
  )
}

const EVERY_MS = 1_000

/** Progress of an act, read until its end. */
function useBulk(id: string | undefined) {
  const [ended, setEnded] = useState<string>()
  const isOver = id === undefined || ended === id
  const answer = useQuery(id && `bulk ${id}`, (signal) => readBulk(id ?? '', signal), {
    every: isOver ? undefined : EVERY_MS,
  })
  const { data } = answer
  useEffect(() => {
    if (data && data.state !== 'running') setEnded(data.id)
  }, [data])
  return answer
}

function showBulk(id: string | undefined): void {
  const now = new URLSearchParams(window.location.search)
  if (id === (now.get('bulk') ?? undefined)) return
  navigate(changed('executions', now, { bulk: id }), { replace: true })
}

function leftOut(number: number): string {
  if (number === 0) return ''
  const [be, them] = number === 1 ? ['is', 'it'] : ['are', 'them']
  return ` ${executionsIn(number)} more ${be} left out, since it does not apply to ${them}.`
}

const Preview = ({ preview }: { preview: BulkPreview }) => (
  <>
    <p>
      It applies to {executionsIn(preview.count)}.{leftOut(preview.left_out)}
      {preview.forbidden > 0 && ` You may not change ${count(preview.forbidden)} of them.`}
    </p>
    <ul class="mono">
      {preview.sample.slice(0, SHOWN).map(({ execution_id, workflow_name, state }) => (
        <li key={execution_id}>
          <Link to={executionAddress(execution_id)}>{execution_id}</Link> <bdi>{workflow_name}</bdi>{' '}
          {state}
        </li>
      ))}
      {preview.count > SHOWN && <li class="faint">and {count(preview.count - SHOWN)} more</li>}
    </ul>
  </>
)
