import { ArgumentError } from '@windlass/api-client/errors'
import { useState } from 'preact/hooks'
import { useRefusal } from '../api/permissions.ts'
import type { Schedule, ScheduleDraft } from '../api/schedules.ts'
import { useQuery } from '../api/use-query.ts'
import { listWorkflows } from '../api/workflows.ts'
import { fieldText } from '../format/words.ts'
import { problemOfJson } from '../start/form.ts'
import { choiceProblem } from '../ui/choice-problem.ts'
import { FormField, FormPanel } from '../ui/form-panel.tsx'
import type { Edited } from '../ui/use-edited.ts'
import { configOf, KINDS, kindOf } from './rule.ts'

/** Effect of a tick while an earlier run goes on. */
export const OVERLAPS = [
  ['allow', 'starts another one'],
  ['skip', 'is left out'],
  ['queue', 'waits for its end'],
  ['cancel_previous', 'cancels it'],
] as const

interface Props {
  title: string
  submit: string
  /** The schedule that is changed; a new one if undefined. */
  edited?: Edited<Schedule>
  refusal: string | undefined
  /** `now`: the schedule that is changed, as it was read just before. */
  save: (draft: ScheduleDraft, fields: FormData, now?: Schedule) => Promise<void>
}

/** Creates a schedule, or changes one. */
export function ScheduleForm({ title, submit, edited, refusal, save }: Props) {
  const schedule = edited?.base
  const run = async (fields: FormData, now?: Schedule) => {
    const input = fieldText(fields, 'input') || 'null'
    const problem = problemOfJson(input)
    if (problem) throw new ArgumentError(`The input is not valid JSON: ${problem}`)
    const kind = kindOf(fieldText(fields, 'kind'))
    const typed = { rule: fieldText(fields, 'rule'), timezone: fieldText(fields, 'timezone') }
    const draft = { config: configOf(kind, typed, schedule?.schedule_config), input }
    await save({ ...draft, overlap: fieldText(fields, 'overlap') }, fields, now)
  }
  return (
    <FormPanel {...{ title, submit, refusal, run, edited }} icon={schedule ? 'sliders' : 'plus'}>
      {!schedule && <NewFields />}
      <RuleFields config={schedule?.schedule_config ?? {}} />
      <FormField label="While an earlier run goes on, a tick">
        <select name="overlap">
          {OVERLAPS.map(([value, text]) => (
            <option key={value} value={value} selected={value === schedule?.overlap}>
              {text}
            </option>
          ))}
        </select>
      </FormField>
      <FormField label="Input (JSON)" isWide>
        <textarea
          name="input"
          rows={3}
          spellcheck={false}
          defaultValue={schedule?.input ?? 'null'}
        />
      </FormField>
    </FormPanel>
  )
}

function RuleFields({ config }: { config: Schedule['schedule_config'] }) {
  const [kind, setKind] = useState(() => kindOf(String(config.type ?? 'cron')))
  const given = config[kind.member]
  return (
    <>
      <FormField label="Kind">
        <select
          name="kind"
          value={kind.type}
          onChange={(event) => setKind(kindOf(event.currentTarget.value))}
        >
          {KINDS.map(({ type }) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      </FormField>
      <FormField key={kind.type} label={kind.label}>
        <input
          name="rule"
          required
          spellcheck={false}
          placeholder={kind.example}
          defaultValue={given === undefined ? '' : String(given)}
        />
      </FormField>
      <FormField label="Time zone" hint="A name such as Europe/Berlin">
        <input
          name="timezone"
          spellcheck={false}
          defaultValue={String(config.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone)}
        />
      </FormField>
    </>
  )
}

function NewFields() {
  const workflows = useQuery('workflows', listWorkflows)
  const refusal = useRefusal('workflow:*:read')
  const problem = choiceProblem(workflows, { refusal, empty: 'No workflow is uploaded yet' })
  return (
    <>
      <FormField label="Workflow" hint={problem}>
        <select name="workflow" required disabled={problem !== undefined}>
          {workflows.data?.map(({ namespace, name }) => (
            <option key={`${namespace}/${name}`}>{`${namespace}/${name}`}</option>
          ))}
        </select>
      </FormField>
      <FormField label="Name">
        <input name="name" required maxLength={255} spellcheck={false} />
      </FormField>
    </>
  )
}
