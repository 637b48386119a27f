import { AccessTabs } from '../access/access-tabs.tsx'
import { createRole, listRoles, type Role } from '../api/access.ts'
import { useRefusal } from '../api/permissions.ts'
import { useQuery } from '../api/use-query.ts'
import { fieldText, wordsOf } from '../format/words.ts'
import { roleAddress } from '../location/address.ts'
import { navigateFromHere } from '../location/location.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { FormField, FormPanel } from '../ui/form-panel.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'

const EVERY_MS = 15_000
/** Permissions that a row names. */
const MAX_NAMED = 4

/** Roles with their permissions; those that the server comes with are listed first. */
export function RolesScreen() {
  const answer = useQuery('roles', listRoles, { every: EVERY_MS })
  return (
    <Page title="Access" aside={answer.data && <span class="count">{answer.data.length}</span>}>
      <AccessTabs current="roles" />
      <NewRole />
      <Loaded answer={answer}>{(roles) => <Rows roles={roles} />}</Loaded>
    </Page>
  )
}

const Rows = ({ roles }: { roles: readonly Role[] }) => (
  <DataTable label="Roles" heads={['Role', 'Kind', 'Permissions']}>
    {roles.map(({ name, permissions, built_in }) => (
      <tr key={name}>
        <th scope="row">
          <Link to={roleAddress(name)} class="name">
            {name}
          </Link>
        </th>
        <td class="faint">{built_in ? 'built in' : 'own'}</td>
        <td class="mono">
          {permissions.slice(0, MAX_NAMED).join(', ') || 'none'}
          {permissions.length > MAX_NAMED && (
            <span class="faint"> and {permissions.length - MAX_NAMED} more</span>
          )}
        </td>
      </tr>
    ))}
  </DataTable>
)

function NewRole() {
  const refusal = useRefusal('admin:roles:manage')
  const create = async (fields: FormData) => {
    const go = navigateFromHere()
    const name = fieldText(fields, 'name')
    await createRole(name, wordsOf(fieldText(fields, 'permissions')))
    go(roleAddress(name))
  }
  return (
    <FormPanel title="New role" submit="Create the role" refusal={refusal} run={create}>
      <FormField label="Name">
        <input name="name" required maxLength={128} pattern="[\w.\-]+" spellcheck={false} />
      </FormField>
      <FormField label="Permissions" hint="One in each line" isWide>
        <textarea name="permissions" rows={4} spellcheck={false} />
      </FormField>
    </FormPanel>
  )
}
