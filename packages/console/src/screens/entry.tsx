import { useState } from 'preact/hooks'
import {
  deleteEntry,
  type EntryKind,
  type EntryRow,
  listEntries,
  readValue,
} from '../api/entries.ts'
import { useRefusal } from '../api/permissions.ts'
import { serverNow } from '../api/server-clock.ts'
import { useQuery } from '../api/use-query.ts'
import { ConfigUses } from '../entries/config-uses.tsx'
import { EntryForm } from '../entries/entry-form.tsx'
import { EntryUses } from '../entries/entry-uses.tsx'
import { KINDS } from '../entries/kinds.ts'
import { clock, millis } from '../format/time.ts'
import { navigateFromHere } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { FailureText } from '../ui/failure-text.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { JsonView } from '../ui/json-view.tsx'
import { Page } from '../ui/page.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { useAct } from '../ui/use-act.ts'
import { useEdited } from '../ui/use-edited.ts'

export const SecretScreen = (props: ScreenProps) => <Entry kind="secrets" {...props} />
export const ConfigScreen = (props: ScreenProps) => <Entry kind="configs" {...props} />

/** One secret or config: who may use it, who did, and its value on request. */
function Entry({ kind, rest: [name = ''] }: ScreenProps & { kind: EntryKind }) {
  const answer = useQuery(kind, (signal) => listEntries(kind, signal))
  return (
    <Page
      title={name}
      aside={<span class="badge">{KINDS[kind].one}</span>}
      actions={<Delete kind={kind} name={name} />}
    >
      <Loaded answer={answer}>
        {(all) => {
          const entry = all.find((one) => one.name === name)
          if (!entry) return <Empty title={`There is no ${KINDS[kind].one} of this name`} />
          return (
            <>
              <Facts facts={kind === 'secrets' ? secretFacts(entry) : scopeFacts(entry)} />
              <Value key={entry.revision ?? entry.version} kind={kind} name={name} />
              <Replace {...{ kind, entry }} refresh={answer.refresh} />
              {kind === 'secrets' ? <EntryUses name={name} /> : <ConfigUses name={name} />}
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}

type Fact = [name: string, value: string | number]

const scopeFacts = ({ namespaces, workflows }: EntryRow): Fact[] => [
  ['Namespaces that may use it', namespaces?.join(', ') ?? 'all'],
  ['Workflows that may use it', workflows?.join(', ') ?? 'all'],
]

/** Only secrets have versions. */
function secretFacts(entry: EntryRow): Fact[] {
  const until = millis(entry.previous_until)
  return [
    ['Version', entry.version ?? '–'],
    ...scopeFacts(entry),
    ['The old value is readable until', until === undefined ? '–' : clock(until, serverNow())],
  ]
}

interface ReplaceProps {
  kind: EntryKind
  entry: EntryRow
  refresh: () => void
}

const fieldsOf = ({ revision, version, namespaces, workflows }: EntryRow) =>
  JSON.stringify([revision, version, namespaces, workflows])

function Replace({ kind, entry, refresh }: ReplaceProps) {
  const read = async () =>
    (await listEntries(kind)).find(({ name }) => name === entry.name) ?? { name: entry.name }
  const edited = useEdited({ stored: entry, textOf: fieldsOf, read, refresh })
  return <EntryForm {...{ kind, edited }} onSaved={() => refresh()} />
}

/** The value is read when it is asked for; for a secret the audit log says who read it. */
function Value({ kind, name }: { kind: EntryKind; name: string }) {
  const [value, setValue] = useState<string>()
  const refusal = useRefusal(KINDS[kind].read)
  const { isBusy, failure, act } = useAct()
  if (value !== undefined)
    return (
      <>
        <JsonView title="Value" text={value} />
        <p>
          <button type="button" onClick={() => setValue(undefined)}>
            Hide the value
          </button>
        </p>
      </>
    )
  return (
    <section class="card" aria-label="Value">
      <button
        type="button"
        disabled={isBusy || refusal !== undefined}
        title={refusal}
        onClick={() => void act(async () => setValue(await readValue(kind, name)))}
      >
        <Icon name="key" /> Show the value
      </button>{' '}
      <Refusal text={refusal} />{' '}
      {kind === 'secrets' && <span class="faint">The audit log records that you read it.</span>}
      <FailureText text={failure} />
    </section>
  )
}

function Delete({ kind, name }: { kind: EntryKind; name: string }) {
  const { one, manage } = KINDS[kind]
  const refusal = useRefusal(manage)
  const { isBusy, failure, act } = useAct()
  return (
    <>
      {failure && (
        <span class="failure-text" role="alert">
          {failure}
        </span>
      )}
      <ConfirmButton
        label="Delete"
        icon="close"
        {...{ isBusy, refusal }}
        question={`Delete the ${one} ${name}?`}
        text="Workflows that need it fail at their next call. This cannot be taken back."
        confirm={`Delete the ${one}`}
        onConfirm={() =>
          void act(async () => {
            const go = navigateFromHere()
            await deleteEntry(kind, name)
            go(kind)
          })
        }
      />
    </>
  )
}
