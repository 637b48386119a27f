import type { AuditEntry } from '@windlass/domain/audit-entry'
import { useMemo } from 'preact/hooks'
import { readAudit } from '../api/audit.ts'
import { useQuery } from '../api/use-query.ts'
import { toEntries } from '../audit/entry.ts'
import { VerifyPanel } from '../audit/verify-panel.tsx'
import { count, millis } from '../format/time.ts'
import { address, changed, wholeOf } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { LatestRows } from '../ui/latest-rows.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Page } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { TextFilter } from '../ui/text-filter.tsx'
import { Clock } from '../ui/times.tsx'

const PATH = 'audit'
const PAGE = 50
const EVERY_MS = 10_000
/** Characters of a detail that a row shows before it is opened. */
const SHOWN_CHARS = 80
const OUTCOMES = ['begun', 'done', 'denied', 'failed', 'unknown']
const FILTERS = [
  { name: 'actor', label: 'Who', example: 'any' },
  { name: 'action', label: 'Action', example: 'role, or role.create' },
  { name: 'object', label: 'Object', example: 'secret:token' },
  { name: 'since', label: 'Since', example: '2026-11-23T08:00:00Z' },
  { name: 'until', label: 'Until', example: '2026-11-23T09:00:00Z' },
]

/** The audit log, newest first, and the verification of its chain. */
export function AuditScreen({ place: { query } }: ScreenProps) {
  const offset = wholeOf(query.get('offset'), 0)
  const names = [...FILTERS.map(({ name }) => name), 'outcome']
  const filter = Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined]))
  const asked = { ...filter, limit: String(PAGE), offset: String(offset) }
  const key = `audit ${JSON.stringify(asked)}`
  const answer = useQuery(
    key,
    (signal) => readAudit(asked, signal),
    // Later pages move when entries arrive.
    { every: offset === 0 ? EVERY_MS : undefined },
  )
  const page = answer.data?.entries ?? '[]'
  const rows = useMemo(() => toEntries(page), [page])
  const to = (values: Record<string, string | undefined>) =>
    changed(PATH, query, { offset: undefined, ...values })
  return (
    <Page
      title="Audit"
      aside={answer.data && <span class="count">{count(answer.data.total)}</span>}
    >
      <VerifyPanel />
      <div class="filters">
        {FILTERS.map((view) => (
          <TextFilter key={view.name} view={view} query={query} to={to} />
        ))}
        <Outcome query={query} to={to} />
        {names.some((name) => query.get(name)) && (
          <Link to={PATH} class="quiet-link" aria-label="Clear the filters">
            <Icon name="close" /> Clear
          </Link>
        )}
      </div>
      <Loaded answer={answer} lines={12}>
        {({ total }) =>
          rows.length === 0 ? (
            <Empty title="No entry matches" />
          ) : (
            <>
              <LatestRows key={key} rows={rows} idOf={seqOf}>
                {(shown) => <Rows rows={shown} />}
              </LatestRows>
              <Pager
                {...{ offset, total, limit: PAGE, shown: rows.length }}
                to={(row) => changed(PATH, query, { offset: row })}
              />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

interface FilterProps {
  query: URLSearchParams
  to: (values: Record<string, string | undefined>) => string
}

const Outcome = ({ query, to }: FilterProps) => (
  <label class="text-filter">
    <span>Outcome</span>
    <select
      value={query.get('outcome') ?? ''}
      onChange={(event) => navigate(to({ outcome: event.currentTarget.value }))}
    >
      <option value="">any</option>
      {OUTCOMES.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  </label>
)

const seqOf = ({ seq }: AuditEntry) => String(seq)

const HEADS = ['No.', 'When', 'Who', 'Action', 'Object', 'Outcome', 'Detail']

function Rows({ rows }: { rows: readonly AuditEntry[] }) {
  const now = useNow()
  return (
    <DataTable label="Audit log" heads={HEADS}>
      {rows.map((row) => (
        <tr key={row.seq}>
          <th scope="row" class="num faint">
            {row.seq}
          </th>
          <td class="num">
            <Clock at={millis(row.at)} now={now} />
          </td>
          <td title={`${row.issuer} ${row.key_prefix}`}>
            <Link to={address(PATH, { actor: row.subject })}>
              <bdi>{row.subject || 'anonymous'}</bdi>
            </Link>
          </td>
          <td>{row.action}</td>
          <td class="object">
            <Link to={address(PATH, { object: row.object })}>
              <bdi>{row.object}</bdi>
            </Link>
          </td>
          <td class={row.outcome === 'done' || row.outcome === 'begun' ? undefined : 'tone-bad'}>
            {row.outcome}
          </td>
          <td class="wide">
            <Detail text={row.detail_json} />
          </td>
        </tr>
      ))}
    </DataTable>
  )
}

/** The detail exactly as it was hashed. */
function Detail({ text }: { text: string }) {
  if (text === '{}') return <span class="faint">–</span>
  if (text.length <= SHOWN_CHARS) return <code>{text}</code>
  return (
    <details>
      <summary class="mono">{text.slice(0, SHOWN_CHARS)}…</summary>
      <code>{text}</code>
    </details>
  )
}
