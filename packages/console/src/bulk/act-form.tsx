import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { BulkAct, BulkAction } from '../api/bulk.ts'
import { readTimeline } from '../api/timeline.ts'
import { callsOf, lastFailed } from '../execution/calls.ts'
import { JsonInput } from '../start/json-input.tsx'
import { FailureText } from '../ui/failure-text.tsx'
import { useAct } from '../ui/use-act.ts'
import { actOf, NOTHING_TYPED, problemIn, type Typed } from './act-options.ts'
import { ActionChoice } from './actions.tsx'
import { repeats } from './applies.ts'

/** An act as it is chosen and typed. */
interface ChosenAct {
  act: BulkAct
  typed: Typed
  /** Why it cannot be sent; undefined if it can. */
  problem: string | undefined
  choose: (action: BulkAction) => void
  type: (values: Partial<Typed>) => void
}

/** The act of a form; `onChange` is called when it becomes another one. */
export function useChosenAct(first: BulkAction, onChange: () => void = () => {}): ChosenAct {
  const [chosen, setChosen] = useState<BulkAction>()
  const [typed, setTyped] = useState(NOTHING_TYPED)
  const action = chosen ?? first
  // An input may have megabytes.
  const problem = useMemo(() => problemIn(action, typed), [action, typed])
  return {
    ...{ act: problem === undefined ? actOf(action, typed) : { action }, typed, problem },
    choose: (next) => {
      setChosen(next)
      onChange()
    },
    type: (values) => {
      setTyped((last) => ({ ...last, ...values }))
      onChange()
    },
  }
}

interface Props {
  chosen: ChosenAct
  isBusy: boolean
  /** Id of one of the executions, in which a place to fork from can be searched for. */
  example: string | undefined
  /** Buttons that perform it. */
  children: ComponentChildren
}

/** The choice of an act, with what it needs. */
export function ActForm({ chosen, isBusy, example, children }: Props) {
  const { typed, problem, choose, type } = chosen
  const { action } = chosen.act
  return (
    <>
      <div class="filters">
        <ActionChoice {...{ action, isBusy }} onChange={choose} />
        {action === 'fork' && (
          <NumberField
            label="After entry"
            value={typed.after}
            isBusy={isBusy}
            onChange={(after) => type({ after })}
          />
        )}
        {action === 'fork' && example && (
          <FailedPlace id={example} onFound={(after) => type({ after: String(after) })} />
        )}
        {repeats(action) && (
          <NumberField
            label="Version"
            value={typed.version}
            empty="of each"
            isBusy={isBusy}
            onChange={(version) => type({ version })}
          />
        )}
        {repeats(action) && (
          <details class="other-input">
            <summary>With another input for all of them</summary>
            <JsonInput
              text={typed.input}
              problem={undefined}
              onChange={(input) => type({ input })}
            />
          </details>
        )}
        {children}
      </div>
      {action === 'fork' && (
        <p class="faint">
          A fork is a new execution that begins with the log of another one up to this entry. Calls
          whose outcome is there do not run again. Each log is used up to the same entry.
        </p>
      )}
      <FailureText text={problem} />
    </>
  )
}

interface PlaceProps {
  id: string
  onFound: (after: number) => void
}

/** Finds the entry before the call that failed in one of the executions. */
function FailedPlace({ id, onFound }: PlaceProps) {
  const { isBusy, failure, act } = useAct()
  const [said, setSaid] = useState('')
  const find = () =>
    act(async () => {
      const call = lastFailed(callsOf(await readTimeline(id)))
      setSaid(
        call ? `before ${call.name} in ${id.slice(0, 8)}…` : `no call failed in ${id.slice(0, 8)}…`,
      )
      if (call) onFound(call.seq - 1)
    })
  return (
    <>
      <button type="button" class="quiet" disabled={isBusy} onClick={find}>
        Before the call that failed
      </button>
      <span class="faint" role="status">
        {said}
      </span>
      <FailureText text={failure} />
    </>
  )
}

interface NumberProps {
  label: string
  value: string
  /** What an empty field means. */
  empty?: string
  isBusy: boolean
  onChange: (value: string) => void
}

const NumberField = ({ label, value, empty, isBusy, onChange }: NumberProps) => (
  <label class="text-filter">
    <span>{label}</span>
    <input
      type="text"
      inputMode="numeric"
      size={8}
      value={value}
      placeholder={empty}
      disabled={isBusy}
      onInput={(event) => onChange(event.currentTarget.value.trim())}
    />
  </label>
)
