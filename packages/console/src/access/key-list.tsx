import { useState } from 'preact/hooks'
import { createKey, type KeyRow, listKeys, type Principal, revokeKey } from '../api/access.ts'
import { useRefusal } from '../api/permissions.ts'
import { useQuery } from '../api/use-query.ts'
import { millis } from '../format/time.ts'
import { fieldText, wordsOf } from '../format/words.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { FailureText } from '../ui/failure-text.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { FormField, FormPanel } from '../ui/form-panel.tsx'
import { useNow } from '../ui/now.ts'
import { OnceShown } from '../ui/once-shown.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { Ago } from '../ui/times.tsx'
import { useAct } from '../ui/use-act.ts'

/** API keys of a service account; a new one is shown once. */
export function KeyList({ principal }: { principal: Principal }) {
  const { subject, external_issuer } = principal
  const answer = useQuery(`keys ${external_issuer} ${subject}`, (signal) =>
    listKeys(principal, signal),
  )
  return (
    <section class="page-body" aria-label="API keys">
      <h2>API keys</h2>
      <Loaded answer={answer} lines={2}>
        {(keys) =>
          keys.length === 0 ? (
            <Empty title="No key yet" />
          ) : (
            <Rows principal={principal} keys={keys} onDone={answer.refresh} />
          )
        }
      </Loaded>
      <NewKey principal={principal} onDone={answer.refresh} />
    </section>
  )
}

interface Props {
  principal: Principal
  onDone: () => void
}

const HEADS = ['Key', 'Created', 'Last used', 'Expires', 'Limited to', '']

function Rows({ principal, keys, onDone }: Props & { keys: readonly KeyRow[] }) {
  const now = useNow()
  const refusal = useRefusal('admin:principals:manage')
  const { isBusy, failure, act } = useAct()
  return (
    <>
      <DataTable label="API keys" heads={HEADS}>
        {keys.map(({ name, prefix, permissions = [], networks = [], ...times }) => (
          <tr key={name}>
            <th scope="row">
              <strong>{name}</strong> <span class="mono faint">{prefix}…</span>
            </th>
            <td class="num">
              <Ago at={millis(times.created_at)} now={now} />
            </td>
            <td class="num">
              {times.last_used_at ? <Ago at={millis(times.last_used_at)} now={now} /> : 'never'}
            </td>
            <td class="num">
              {times.expires_at ? <Ago at={millis(times.expires_at)} now={now} /> : 'never'}
            </td>
            <td class="mono">{[...permissions, ...networks].join(' ') || '–'}</td>
            <td class="right">
              <ConfirmButton
                label="Revoke"
                icon="close"
                {...{ isBusy, refusal }}
                sharesRefusal
                question={`Revoke the key ${name}?`}
                text="It is refused at once, with the sessions and streams that it opened."
                confirm="Revoke the key"
                onConfirm={() => void act(() => revokeKey(principal, name)).finally(onDone)}
              />
            </td>
          </tr>
        ))}
      </DataTable>
      <Refusal text={refusal} />
      <FailureText text={failure} />
    </>
  )
}

function NewKey({ principal, onDone }: Props) {
  const refusal = useRefusal('admin:principals:manage')
  const [made, setMade] = useState<{ name: string; key: string }>()
  const [isMaking, setMaking] = useState(false)
  const create = async (fields: FormData) => {
    const permissions = wordsOf(fieldText(fields, 'permissions'))
    const networks = wordsOf(fieldText(fields, 'networks'))
    const days = fieldText(fields, 'days')
    const name = fieldText(fields, 'name')
    setMaking(true)
    try {
      const key = await createKey(principal, {
        name,
        ...(days !== '' && { expires_in_days: Number(days) }),
        ...(permissions.length > 0 && { permissions }),
        ...(networks.length > 0 && { networks }),
      })
      setMade({ name, key })
    } finally {
      setMaking(false)
    }
    onDone()
  }
  return (
    <>
      {/* While another one is made, the last one would be taken for it. */}
      {made && !isMaking && <OnceShown title={`The new API key ${made.name}`} text={made.key} />}
      <FormPanel title="New key" submit="Create the key" refusal={refusal} run={create}>
        <FormField label="Name">
          <input name="name" required maxLength={128} pattern="[\w.\-]+" spellcheck={false} />
        </FormField>
        <FormField label="Days until it expires" hint="Empty: it does not expire">
          <input name="days" type="number" min={1} max={36_500} />
        </FormField>
        <FormField label="Permissions" hint="Empty: all of the account">
          <input name="permissions" spellcheck={false} placeholder="workflow:team:*:run" />
        </FormField>
        <FormField label="Networks" hint="Empty: from everywhere">
          <input name="networks" spellcheck={false} placeholder="10.0.0.0/8" />
        </FormField>
      </FormPanel>
    </>
  )
}
