import { useState } from 'preact/hooks'
import {
  actInBulk,
  type BulkAction,
  type BulkPreview,
  type BulkProgress,
  previewBulk,
} from '../api/bulk.ts'
import type { Query } from '../api/server.ts'
import { count } from '../format/time.ts'
import { executionAddress } from '../location/address.ts'
import { FailureText } from '../ui/failure-text.tsx'
import { Link } from '../ui/link.tsx'
import { useAct } from '../ui/use-act.ts'
import { ActionChoice, executionsIn, labelOf, Progress, SHOWN } from './actions.tsx'

interface Props {
  /** The filter of the list; the act is for all that match it. */
  filter: Query
  onDone: () => void
}

/** Acts on all executions of the filter, after it was shown what that changes. */
export function BulkPanel({ filter, onDone }: Props) {
  const [action, setAction] = useState<BulkAction>('cancel')
  const [preview, setPreview] = useState<BulkPreview>()
  const [progress, setProgress] = useState<BulkProgress>()
  const { isBusy, failure, act } = useAct()
  const look = () =>
    act(async () => {
      setProgress(undefined)
      setPreview(await previewBulk(filter, action))
    })
  const perform = (expect: number) =>
    act(async () => {
      for await (const one of actInBulk(filter, { action, expect })) setProgress(one)
      setPreview(undefined)
      onDone()
    })
  return (
    <details class="card form-panel">
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
            class="danger"
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
      <FailureText text={failure} />
    </details>
  )
}

const Preview = ({ preview }: { preview: BulkPreview }) => (
  <>
    <p>
      It applies to {count(preview.count)} executions. {count(preview.left_out)} more match and are
      left out, since it does not apply to them
      {preview.forbidden > 0 && `; ${count(preview.forbidden)} you may not change`}.
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
