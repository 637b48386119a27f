import { useState } from 'preact/hooks'
import { actOnEach } from '../api/acts.ts'
import type { BulkAction, BulkProgress } from '../api/bulk.ts'
import type { ExecutionRow } from '../api/executions.ts'
import { executionAddress } from '../location/address.ts'
import { FailureText } from '../ui/failure-text.tsx'
import { Link } from '../ui/link.tsx'
import { StateBadge } from '../ui/state-badge.tsx'
import { useAct } from '../ui/use-act.ts'
import { ActionChoice, classOf, executionsIn, labelOf, Progress } from './actions.tsx'
import { applies, firstFor } from './applies.ts'

interface Props {
  /** The selected rows of the list. */
  rows: readonly ExecutionRow[]
  onClear: () => void
  onDone: () => void
}

/** Acts on the selected executions, with each of them and its state in view. */
export function SelectionPanel({ rows, onClear, onDone }: Props) {
  const [chosen, setAction] = useState<BulkAction>()
  const action = chosen ?? firstFor(rows)
  const [progress, setProgress] = useState<BulkProgress>()
  const { isBusy, failure, act } = useAct()
  const affected = rows.filter(({ state }) => applies(action, state))
  const leftOut = rows.length - affected.length
  const perform = () =>
    act(async () => {
      for await (const one of actOnEach(affected, action)) setProgress(one)
    }).finally(onDone)
  return (
    <section class="card page-body selection" aria-label="Selected executions">
      <div class="filters">
        <ActionChoice {...{ action, isBusy }} onChange={setAction} />
        <button
          type="button"
          class={classOf(action)}
          disabled={isBusy || affected.length === 0}
          onClick={perform}
        >
          {labelOf(action)} {executionsIn(affected.length)}
        </button>
        <button type="button" class="quiet" disabled={isBusy} onClick={onClear}>
          Clear the selection
        </button>
      </div>
      <ul class="mono">
        {rows.map(({ execution_id, workflow_name, state }) => (
          <li key={execution_id}>
            <Link to={executionAddress(execution_id)}>{execution_id}</Link>{' '}
            <bdi>{workflow_name}</bdi> <StateBadge state={state} />
            {!applies(action, state) && <span class="faint"> is left out</span>}
          </li>
        ))}
      </ul>
      <div role="status">
        {leftOut > 0 && <p>It does not apply to {executionsIn(leftOut)}.</p>}
        {progress && <Progress progress={progress} />}
      </div>
      <FailureText text={failure} />
    </section>
  )
}
