import type { Simulation } from '../api/access.ts'
import { principalAddress } from '../location/address.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Link } from '../ui/link.tsx'

/** Permissions that a change of a role grants and withdraws, and the principals that it affects. */
export const RoleEffect = ({ effect }: { effect: Simulation }) => (
  <section class="page-body" aria-label="Effect" role="status">
    <p>
      The role gains <Permissions names={effect.granted} /> and loses{' '}
      <Permissions names={effect.taken} />. {holdersOf(effect)}
    </p>
    {effect.principals !== null && effect.principals.length > 0 && (
      <DataTable label="Principals that are concerned" heads={['Principal', 'Gains', 'Loses']}>
        {effect.principals.map(({ subject, external_issuer, enabled, granted, taken }) => (
          <tr key={`${external_issuer}/${subject}`}>
            <th scope="row">
              <Link to={principalAddress(subject, external_issuer)} class="name">
                <bdi>{subject}</bdi>
              </Link>
              {!enabled && <span class="faint"> (disabled)</span>}
            </th>
            <td class="mono">{granted.join(', ') || '–'}</td>
            <td class="mono">{taken.join(', ') || '–'}</td>
          </tr>
        ))}
      </DataTable>
    )}
  </section>
)

const Permissions = ({ names }: { names: readonly string[] }) =>
  names.length === 0 ? <span>nothing</span> : <code>{names.join(', ')}</code>

function holdersOf({ holders, principals }: Simulation): string {
  if (holders === 0) return 'No principal has it.'
  const known = `${holders} ${holders === 1 ? 'principal has' : 'principals have'} it`
  if (principals === null) return `${known}; to see which you need admin:principals:read.`
  return `${known}, and it changes the rights of ${principals.length}.`
}
