import { ArgumentError } from '@windlass/api-client/errors'
import { type EntryKind, type EntryRow, putEntry } from '../api/entries.ts'
import { useRefusal } from '../api/permissions.ts'
import { fieldText, wordsOf } from '../format/words.ts'
import { navigateFromHere } from '../location/location.ts'
import { problemOfJson } from '../start/form.ts'
import { isPreconditionFailed } from '../ui/feedback.tsx'
import { FormField, FormPanel } from '../ui/form-panel.tsx'
import type { Edited } from '../ui/use-edited.ts'
import { KINDS } from './kinds.ts'

interface Props {
  kind: EntryKind
  /** The entry whose value is replaced; a new one if undefined. */
  edited?: Edited<EntryRow>
  /** `go` changes the address, unless the person has gone to another screen since the press. */
  onSaved: (name: string, go: (to: string) => void) => void
}

const HOUR_S = 3_600

/** The value as JSON text: JSON is sent unchanged, any other text as a string. */
function toJson(text: string, isText: boolean): string {
  if (isText) return JSON.stringify(text)
  const problem = problemOfJson(text)
  if (problem) throw new ArgumentError(`The value is not valid JSON: ${problem}`)
  return text
}

/** Patterns of a field; an empty field gives null, which means all. */
const patternsOf = (fields: FormData, name: string) => {
  const patterns = wordsOf(fieldText(fields, name))
  return patterns.length === 0 ? null : patterns
}

/** Creates an entry, or replaces the value and the patterns of one. */
export function EntryForm({ kind, edited, onSaved }: Props) {
  const entry = edited?.base
  const { one, manage } = KINDS[kind]
  const refusal = useRefusal(manage)
  const save = async (fields: FormData, now?: EntryRow) => {
    const go = navigateFromHere()
    const name = entry?.name ?? fieldText(fields, 'name')
    const hours = fieldText(fields, 'keep_hours')
    const draft = {
      name,
      value: toJson(String(fields.get('value') ?? ''), fieldText(fields, 'form') === 'text'),
      namespaces: patternsOf(fields, 'namespaces'),
      workflows: patternsOf(fields, 'workflows'),
      keep_previous: hours === '' ? undefined : Math.round(Number(hours) * HOUR_S),
    }
    await putEntry(kind, draft, now).catch((error) => {
      if (now || !isPreconditionFailed(error)) throw error
      throw new ArgumentError(
        `There is a ${one} of this name already: open it to replace its value.`,
      )
    })
    onSaved(name, go)
  }
  return (
    <FormPanel
      title={entry ? 'Replace the value' : `New ${one}`}
      icon={entry ? 'again' : 'plus'}
      submit={entry ? 'Replace the value' : `Create the ${one}`}
      refusal={refusal}
      run={save}
      edited={edited}
    >
      {!entry && (
        <FormField label="Name">
          <input name="name" required maxLength={255} spellcheck={false} />
        </FormField>
      )}
      <FormField label="The value is">
        <select name="form">
          <option value="text">text</option>
          <option value="json">JSON</option>
        </select>
      </FormField>
      <FormField label="Value" isWide>
        <textarea name="value" rows={3} required spellcheck={false} autoComplete="off" />
      </FormField>
      <FormField label="Namespaces that may use it" hint="Empty: all. * stands for any characters">
        <input name="namespaces" defaultValue={entry?.namespaces?.join(', ')} spellcheck={false} />
      </FormField>
      <FormField label="Workflows that may use it" hint="Empty: all">
        <input name="workflows" defaultValue={entry?.workflows?.join(', ')} spellcheck={false} />
      </FormField>
      {kind === 'secrets' && entry && (
        <FormField label="Hours for which the old value stays readable" hint="Empty: none">
          <input name="keep_hours" type="number" min={0} max={720} step="any" />
        </FormField>
      )}
    </FormPanel>
  )
}
