import { useMemo } from 'preact/hooks'
import type { ExecutionRow } from '../api/executions.ts'
import { runPermission, useRefusals } from '../api/permissions.ts'
import { executionAddress } from '../location/address.ts'
import { Link } from '../ui/link.tsx'
import { StateBadge } from '../ui/state-badge.tsx'
import { ActForm, useChosenAct } from './act-form.tsx'
import { classOf, executionsIn, labelOf, Progress, SHOWN } from './actions.tsx'
import { applies, firstFor } from './applies.ts'
import { Planned } from './bulk-preview.tsx'
import { useSelectionAct } from './selection-act.ts'

interface Props {
  /** The selected rows of the list. */
  rows: readonly ExecutionRow[]
  onClear: () => void
  onDone: () => void
}

/** Acts on the selected executions, with each of them and its state in view. */
export function SelectionPanel({ rows, onClear, onDone }: Props) {
  // By the selection, not by the states: the act of a button does not change under the hand of a person.
  const selection = rows.map((row) => row.execution_id).join(' ')
  const chosen = useChosenAct(useMemo(() => firstFor(rows), [selection]))
  const { act: chosenAct, problem } = chosen
  const { action } = chosenAct
  const { isBusy, progress, start } = useSelectionAct()
  const refusalFor = useRefusals()
  const affected = rows.filter(({ state }) => applies(action, state))
  const leftOut = rows.length - affected.length
  const refusals = affected.flatMap((row) => refusalFor(runPermission(row)) ?? [])
  const isRefused = affected.length > 0 && refusals.length === affected.length
  return (
    <section class="card page-body selection" aria-label="Selected executions">
      <ActForm {...{ chosen, isBusy }} example={affected[0]?.execution_id}>
        <button
          type="button"
          class={classOf(action)}
          disabled={isBusy || problem !== undefined || affected.length === 0 || isRefused}
          title={isRefused ? refusals[0] : undefined}
          onClick={() => start(affected, chosenAct, onDone)}
        >
          {labelOf(action)} {executionsIn(affected.length)}
        </button>
        <button type="button" class="quiet" disabled={isBusy} onClick={onClear}>
          Clear the selection
        </button>
      </ActForm>
      <ul class="mono">
        {rows.map((row, i) => (
          <li key={row.execution_id}>
            <Link to={executionAddress(row.execution_id)}>{row.execution_id}</Link>{' '}
            <bdi>{row.workflow_name}</bdi> <StateBadge state={row.state} />
            {!applies(action, row.state) && <span class="faint"> is left out</span>}
            {i < SHOWN && <Planned row={row} act={{ ...chosenAct, input: undefined }} />}
          </li>
        ))}
      </ul>
      <div role="status">
        {leftOut > 0 && <p>It does not apply to {executionsIn(leftOut)}.</p>}
        {refusals.length > 0 && (
          <p>
            You may not change {executionsIn(refusals.length)}. {refusals[0]}.
          </p>
        )}
        {progress && <Progress progress={progress} />}
      </div>
    </section>
  )
}
