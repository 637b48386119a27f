import { useState } from 'preact/hooks'
import { RoleEffect } from '../access/role-effect.tsx'
import {
  changeRole,
  cloneRole,
  getRole,
  type Role,
  type RoleChange,
  type Simulation,
  simulateRole,
} from '../api/access.ts'
import { useRefusal } from '../api/permissions.ts'
import { useQuery } from '../api/use-query.ts'
import { fieldText, wordsOf } from '../format/words.ts'
import { roleAddress } from '../location/address.ts'
import { navigateFromHere } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { EditedNotice } from '../ui/edited-notice.tsx'
import { FailureText } from '../ui/failure-text.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { FormField, FormPanel } from '../ui/form-panel.tsx'
import { Icon } from '../ui/icon.tsx'
import { Page } from '../ui/page.tsx'
import { useAct } from '../ui/use-act.ts'
import { type Edited, useEdited } from '../ui/use-edited.ts'

/** One role: its permissions, and whom a change of them would concern. */
export function RoleScreen({ rest: [name = ''] }: ScreenProps) {
  const answer = useQuery(`role ${name}`, (signal) => getRole(name, signal))
  const { data } = answer
  return (
    <Page title={name} aside={data?.built_in && <span class="badge">built in</span>}>
      <Loaded answer={answer}>
        {(role) => (
          <>
            {role.built_in ? (
              <BuiltIn role={role} />
            ) : (
              <Change role={role} refresh={answer.refresh} />
            )}
            <Clone name={role.name} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const BuiltIn = ({ role }: { role: Role }) => (
  <section class="card" aria-label="Permissions">
    <h2>Permissions</h2>
    <p class="faint">A built-in role cannot be changed; a copy of it can.</p>
    <ul class="mono">
      {role.permissions.map((one) => (
        <li key={one}>{one}</li>
      ))}
    </ul>
  </section>
)

/** The change that makes one list of permissions the other. */
function changeOf(before: readonly string[], after: readonly string[]): RoleChange {
  return {
    add_permissions: after.filter((one) => !before.includes(one)),
    remove_permissions: before.filter((one) => !after.includes(one)),
  }
}

interface Tried {
  change: RoleChange
  /** The text that was tried; another text, and another state of the role, has to be tried again. */
  text: string
  stored: string
  effect: Simulation
}

const textOf = ({ permissions }: Role) => permissions.join('\n')

function Change({ role, refresh }: { role: Role; refresh: () => void }) {
  const read = () => getRole(role.name)
  const edited = useEdited({ stored: role, textOf, read, refresh })
  return <Permissions key={edited.fieldsKey} {...{ edited, refresh }} role={edited.stored} />
}

interface PermissionsProps {
  role: Role
  edited: Edited<Role>
  refresh: () => void
}

/** Permissions as text: a change is made only after its effect was shown. */
function Permissions({ role, edited, refresh }: PermissionsProps) {
  const stored = textOf(role)
  const [text, setText] = useState(textOf(edited.base))
  const [tried, setTried] = useState<Tried>()
  const refusal = useRefusal('admin:roles:manage')
  const { isBusy, failure, act } = useAct()
  const simulate = (change: RoleChange) =>
    act(async () => {
      setTried(undefined)
      const effect = await edited.whileSame(() => simulateRole(role.name, change))
      setTried({ change, text, stored, effect })
    })
  const make = (change: RoleChange) =>
    act(async () => {
      const go = navigateFromHere()
      await edited.whileSame((now) => changeRole(now, change))
      if (change.delete) return go('roles')
      await edited.onSaved()
      refresh()
    })
  const isShown = tried?.text === text && tried.stored === stored
  return (
    <section class="card role-change" aria-label="Permissions">
      <label class="form-field wide">
        <span>Permissions, one in each line</span>
        <textarea
          rows={Math.min(20, role.permissions.length + 3)}
          spellcheck={false}
          value={text}
          disabled={isBusy}
          onInput={(event) => {
            setText(event.currentTarget.value)
            edited.onType()
          }}
        />
      </label>
      <div class="actions">
        <button
          type="button"
          disabled={isBusy || text === stored}
          onClick={() => simulate(changeOf(role.permissions, wordsOf(text)))}
        >
          <Icon name="search" /> Show what changes
        </button>
        <button type="button" disabled={isBusy} onClick={() => simulate({ delete: true })}>
          Show what its deletion changes
        </button>
      </div>
      <FailureText text={failure} />
      {!isBusy && <EditedNotice edited={edited} />}
      {isShown && (
        <>
          <RoleEffect effect={tried.effect} />
          <div class="actions">
            <button
              type="button"
              class={tried.change.delete ? 'danger' : 'primary'}
              disabled={isBusy || refusal !== undefined}
              title={refusal}
              onClick={() => make(tried.change)}
            >
              {tried.change.delete ? 'Delete the role' : 'Make the change'}
            </button>
            {refusal && <span class="faint">{refusal}</span>}
          </div>
        </>
      )}
    </section>
  )
}

function Clone({ name }: { name: string }) {
  const refusal = useRefusal('admin:roles:manage')
  const clone = async (fields: FormData) => {
    const go = navigateFromHere()
    const copy = fieldText(fields, 'name')
    await cloneRole(name, copy)
    go(roleAddress(copy))
  }
  return (
    <FormPanel
      title="Copy the role"
      icon="copy"
      submit="Create the copy"
      refusal={refusal}
      run={clone}
    >
      <FormField label="Name of the copy">
        <input name="name" required maxLength={128} pattern="[\w.\-]+" spellcheck={false} />
      </FormField>
    </FormPanel>
  )
}
