import type { BulkAction, BulkProgress } from '../api/bulk.ts'
import { count } from '../format/time.ts'
import { executionAddress } from '../location/address.ts'
import { Link } from '../ui/link.tsx'

const ACTIONS: readonly (readonly [action: BulkAction, label: string])[] = [
  ['cancel', 'Cancel'],
  ['resume', 'Resume'],
  ['rerun', 'Run again'],
  ['fork', 'Fork'],
]
/** Maximum number of executions of a preview, and of refusals, that are shown. */
export const SHOWN = 5

/** Class of the button: what cannot be taken back has a colour. */
export const classOf = (action: BulkAction) => (action === 'cancel' ? 'danger' : 'primary')

export const labelOf = (action: BulkAction): string =>
  ACTIONS.find(([one]) => one === action)?.[1] ?? action

export const executionsIn = (number: number): string =>
  `${count(number)} ${number === 1 ? 'execution' : 'executions'}`

interface ChoiceProps {
  action: BulkAction
  isBusy: boolean
  onChange: (action: BulkAction) => void
}

/** The choice of what to do with many executions. */
export const ActionChoice = ({ action, isBusy, onChange }: ChoiceProps) => (
  <label class="text-filter">
    <span>Action</span>
    <select
      value={action}
      disabled={isBusy}
      onChange={({ currentTarget: { value } }) =>
        onChange(ACTIONS.find(([one]) => one === value)?.[0] ?? 'cancel')
      }
    >
      {ACTIONS.map(([one, label]) => (
        <option key={one} value={one}>
          {label}
        </option>
      ))}
    </select>
  </label>
)

export const Progress = ({ progress }: { progress: BulkProgress }) => (
  <>
    <p>
      {count(progress.done)} of {count(progress.total)} done, {count(progress.failed)} refused
      {progress.stopped && '; it stopped before its end'}.
    </p>
    <ul>
      {progress.failures?.slice(0, SHOWN).map(({ execution_id, reason }) => (
        <li key={execution_id}>
          <Link to={executionAddress(execution_id)} class="mono">
            {execution_id}
          </Link>
          : {reason}
        </li>
      ))}
    </ul>
  </>
)
