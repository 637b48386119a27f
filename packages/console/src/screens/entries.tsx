import { type EntryKind, type EntryRow, listEntries } from '../api/entries.ts'
import { useQuery } from '../api/use-query.ts'
import { EntryForm } from '../entries/entry-form.tsx'
import { KINDS } from '../entries/kinds.ts'
import { changed, entryAddress } from '../location/address.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { TextFilter } from '../ui/text-filter.tsx'

const EVERY_MS = 15_000
const FILTER = { name: 'text', label: 'Name has', example: 'any' }

export const SecretsScreen = (props: ScreenProps) => <Entries kind="secrets" {...props} />
export const ConfigsScreen = (props: ScreenProps) => <Entries kind="configs" {...props} />

/** Names of secrets or configs, and which workflows may use them; values are read one at a time. */
function Entries({ kind, place: { query } }: ScreenProps & { kind: EntryKind }) {
  const { title, one, empty } = KINDS[kind]
  const answer = useQuery(kind, (signal) => listEntries(kind, signal), { every: EVERY_MS })
  const text = (query.get('text') ?? '').toLowerCase()
  return (
    <Page title={title} aside={answer.data && <span class="count">{answer.data.length}</span>}>
      <EntryForm kind={kind} onSaved={(name, go) => go(entryAddress(kind, name))} />
      <Loaded answer={answer}>
        {(all) =>
          all.length === 0 ? (
            <Empty title={`No ${one} yet`}>
              <p>{empty}</p>
            </Empty>
          ) : (
            <>
              <div class="filters">
                <TextFilter
                  view={FILTER}
                  query={query}
                  to={(values) => changed(kind, query, values)}
                />
              </div>
              <Rows
                kind={kind}
                rows={all.filter(({ name }) => name.toLowerCase().includes(text))}
              />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

function Rows({ kind, rows }: { kind: EntryKind; rows: readonly EntryRow[] }) {
  if (rows.length === 0) return <Empty title="No name matches" />
  const hasVersions = kind === 'secrets'
  const heads = ['Name', ...(hasVersions ? ['Version'] : []), 'Namespaces', 'Workflows']
  return (
    <DataTable label={KINDS[kind].title} heads={heads}>
      {rows.map(({ name, version, namespaces, workflows }) => (
        <tr key={name}>
          <th scope="row">
            <Link to={entryAddress(kind, name)} class="name">
              <bdi>{name}</bdi>
            </Link>
          </th>
          {hasVersions && <td class="num">{version ?? '–'}</td>}
          <td class="mono">{namespaces?.join(', ') ?? 'all'}</td>
          <td class="mono">{workflows?.join(', ') ?? 'all'}</td>
        </tr>
      ))}
    </DataTable>
  )
}
