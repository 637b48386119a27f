import { listSchedulesOf } from '../api/schedules.ts'
import { useQuery } from '../api/use-query.ts'
import type { Workflow } from '../api/workflows.ts'
import { millis } from '../format/time.ts'
import { lists } from '../live/feed.ts'
import { entryAddress, scheduleAddress } from '../location/address.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { StatusBadge } from '../ui/status-badge.tsx'
import { Ago } from '../ui/times.tsx'
import { UsedConfigs } from './used-configs.tsx'

const EVERY_MS = 10_000

/** Schedules that start a workflow, secrets that it declares, and configs that it read. */
export function UsesTab({ workflow }: { workflow: Workflow }) {
  const { namespace, name, metadata } = workflow
  const secrets = metadata.secret_requests ?? []
  return (
    <div class="page-body">
      <Schedules namespace={namespace} name={name} />
      <section class="page-body" aria-label="Secrets">
        <h2>Secrets</h2>
        {secrets.length === 0 ? (
          <p class="faint">It declares none.</p>
        ) : (
          <ul class="card">
            {secrets.map((secret) => (
              <li key={secret}>
                <Link to={entryAddress('secrets', secret)}>{secret}</Link>
              </li>
            ))}
          </ul>
        )}
      </section>
      <UsedConfigs namespace={namespace} name={name} />
    </div>
  )
}

function Schedules({ namespace, name }: { namespace: string; name: string }) {
  const now = useNow()
  const answer = useQuery(
    `schedules of ${namespace}/${name}`,
    (signal) => listSchedulesOf(name, signal),
    { every: EVERY_MS, live: lists.schedules },
  )
  return (
    <section class="page-body" aria-label="Schedules">
      <h2>Schedules</h2>
      <Loaded answer={answer} lines={2}>
        {(all) => {
          const rows = all.filter(
            (one) => one.workflow_namespace === namespace && one.workflow_name === name,
          )
          if (rows.length === 0) return <p class="faint">None that you may see starts it.</p>
          return (
            <DataTable
              label="Schedules"
              heads={['Schedule', 'Status', 'Next run', 'Failures']}
              right={['Failures']}
            >
              {rows.map(({ id, name: schedule, status, next_run_at, failure_count }) => (
                <tr key={id}>
                  <th scope="row">
                    <Link to={scheduleAddress(id)}>
                      <bdi>{schedule}</bdi>
                    </Link>
                  </th>
                  <td>
                    <StatusBadge status={status} />
                  </td>
                  <td class="num">
                    <Ago at={millis(next_run_at)} now={now} />
                  </td>
                  <td class="num right">{failure_count}</td>
                </tr>
              ))}
            </DataTable>
          )
        }}
      </Loaded>
    </section>
  )
}
