import { readAudit } from '../api/audit.ts'
import { useRefusal } from '../api/permissions.ts'
import { useQuery } from '../api/use-query.ts'
import { toEntries } from '../audit/entry.ts'
import { millis } from '../format/time.ts'
import { address } from '../location/address.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Ago } from '../ui/times.tsx'

const SHOWN = 20

/** Who read, used or changed a secret, as the audit log has it. */
export function EntryUses({ name }: { name: string }) {
  const refusal = useRefusal('admin:audit:read')
  const object = `secret:${name}`
  const now = useNow()
  const answer = useQuery(refusal ? undefined : `audit of ${object}`, (signal) =>
    readAudit({ object, limit: String(SHOWN) }, signal),
  )
  return (
    <section class="page-body" aria-label="Uses">
      <h2>Who used it</h2>
      {refusal ? (
        <p class="faint">{refusal}</p>
      ) : (
        <Loaded answer={answer} lines={3}>
          {({ entries, total }) =>
            total === 0 ? (
              <p class="faint">The audit log has no use of it.</p>
            ) : (
              <>
                <DataTable label="Uses" heads={['When', 'Who', 'Action', 'Outcome']}>
                  {toEntries(entries).map(({ seq, at, subject, action, outcome }) => (
                    <tr key={seq}>
                      <td class="num">
                        <Ago at={millis(at)} now={now} />
                      </td>
                      <td>
                        <bdi>{subject || 'anonymous'}</bdi>
                      </td>
                      <td>{action}</td>
                      <td>{outcome}</td>
                    </tr>
                  ))}
                </DataTable>
                <p>
                  <Link to={address('audit', { object })}>All entries about it ({total})</Link>
                </p>
              </>
            )
          }
        </Loaded>
      )}
    </section>
  )
}
