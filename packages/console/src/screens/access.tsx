import { AccessTabs } from '../access/access-tabs.tsx'
import { createPrincipal, listPrincipals, listRoles, type Principal } from '../api/access.ts'
import { useRefusal } from '../api/permissions.ts'
import { useQuery } from '../api/use-query.ts'
import { fieldText } from '../format/words.ts'
import { changed, principalAddress, roleAddress } from '../location/address.ts'
import { navigateFromHere } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { choiceProblem } from '../ui/choice-problem.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { FormField, FormPanel } from '../ui/form-panel.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { TextFilter } from '../ui/text-filter.tsx'

const EVERY_MS = 15_000
const FILTER = { name: 'text', label: 'Name or role has', example: 'any' }

/** Users and service accounts, with their roles. */
export function AccessScreen({ place: { query } }: ScreenProps) {
  const answer = useQuery('principals', listPrincipals, { every: EVERY_MS })
  const text = query.get('text') ?? ''
  return (
    <Page title="Access" aside={answer.data && <span class="count">{answer.data.length}</span>}>
      <AccessTabs current="access" />
      <NewPrincipal />
      <Loaded answer={answer}>
        {(all) => {
          const rows = all.filter((row) => matches(row, text.toLowerCase()))
          return (
            <>
              <div class="filters">
                <TextFilter
                  view={FILTER}
                  query={query}
                  to={(values) => changed('access', query, values)}
                />
              </div>
              {rows.length > 0 && <Rows rows={rows} />}
              {rows.length === 0 && (
                <Empty title={all.length === 0 ? 'No principal yet' : 'No principal matches'}>
                  <p>Service accounts get API keys; users come from the identity provider.</p>
                </Empty>
              )}
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}

const matches = ({ subject, display_name, roles }: Principal, text: string) =>
  [subject, display_name ?? '', ...roles].some((one) => one.toLowerCase().includes(text))

const Rows = ({ rows }: { rows: readonly Principal[] }) => (
  <DataTable label="Principals" heads={['Principal', 'Type', 'Issuer', 'Roles', 'Status']}>
    {rows.map(({ id, subject, external_issuer, display_name, type, roles, enabled }) => (
      <tr key={id}>
        <th scope="row">
          <Link to={principalAddress(subject, external_issuer)} class="name">
            <bdi>{subject}</bdi>
          </Link>
          {display_name && display_name !== subject && (
            <div class="faint">
              <bdi>{display_name}</bdi>
            </div>
          )}
        </th>
        <td>{type.replace('_', ' ')}</td>
        <td class="faint">{external_issuer}</td>
        <td>
          {roles.length === 0 && <span class="faint">none</span>}
          {roles.map((role, i) => (
            <span key={role}>
              {i > 0 && ', '}
              <Link to={roleAddress(role)}>{role}</Link>
            </span>
          ))}
        </td>
        <td>
          <StatusBadge status={enabled ? 'active' : 'disabled'} />
        </td>
      </tr>
    ))}
  </DataTable>
)

function NewPrincipal() {
  const refusal = useRefusal('admin:principals:manage')
  const cannotRead = useRefusal('admin:roles:read')
  const roles = useQuery((refusal ?? cannotRead) ? undefined : 'roles', listRoles)
  const problem = choiceProblem(roles, { refusal: cannotRead, empty: 'There is no role yet' })
  const create = async (fields: FormData) => {
    const go = navigateFromHere()
    const subject = fieldText(fields, 'subject')
    const external_issuer = fieldText(fields, 'issuer') || undefined
    await createPrincipal({
      ...{ subject, external_issuer, type: fieldText(fields, 'type') },
      display_name: fieldText(fields, 'display_name') || undefined,
      roles: fields.getAll('roles').map(String),
    })
    go(principalAddress(subject, external_issuer ?? ''))
  }
  return (
    <FormPanel title="New principal" submit="Create the principal" refusal={refusal} run={create}>
      <FormField label="Type">
        <select name="type">
          <option value="service_account">service account</option>
          <option value="user">user</option>
        </select>
      </FormField>
      <FormField label="Subject" hint="Its name, and that in its tokens">
        <input name="subject" required maxLength={255} spellcheck={false} />
      </FormField>
      <FormField label="Issuer" hint="Empty: this server">
        <input name="issuer" maxLength={255} spellcheck={false} />
      </FormField>
      <FormField label="Name for people" hint="Optional">
        <input name="display_name" maxLength={255} />
      </FormField>
      <FormField label="Roles" hint={problem ?? 'Several with Ctrl or ⌘'}>
        <select name="roles" multiple size={4} disabled={problem !== undefined}>
          {roles.data?.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </FormField>
    </FormPanel>
  )
}
