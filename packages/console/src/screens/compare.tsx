import { useEffect, useState } from 'preact/hooks'
import { listExecutions } from '../api/executions.ts'
import { compare } from '../api/repeats.ts'
import { send } from '../api/server.ts'
import { useQuery } from '../api/use-query.ts'
import { Differences } from '../compare/differences.tsx'
import { toExecution } from '../exact/execution.ts'
import { hasEnded } from '../format/states.ts'
import { millis } from '../format/time.ts'
import { compareAddress, executionAddress } from '../location/address.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Since } from '../ui/running-times.tsx'
import { StateBadge } from '../ui/state-badge.tsx'

/** Two executions side by side; without the other one, those of the same workflow to choose from. */
export function CompareScreen({ rest: [a = '', b] }: ScreenProps) {
  return (
    <Page title="Compare">
      {b ? <Compared key={`${a} ${b}`} a={a} b={b} /> : <Choice id={a} />}
    </Page>
  )
}

const EVERY_MS = 5_000

function Compared({ a, b }: { a: string; b: string }) {
  const [isOpen, setOpen] = useState(false)
  const answer = useQuery(`compare ${a} ${b}`, (signal) => compare(a, b, signal), {
    every: isOpen ? EVERY_MS : undefined,
  })
  const { data } = answer
  useEffect(() => {
    if (data) setOpen([data.a, data.b].some(({ state }) => !hasEnded(state)))
  }, [data])
  return (
    <Loaded answer={answer} lines={10}>
      {(found) => (
        <>
          <Differences found={found} />
          <p>
            <Link to={compareAddress(a)}>Compare with another one</Link> ·{' '}
            <Link to={compareAddress(b, a)}>exchange the two</Link>
          </p>
        </>
      )}
    </Loaded>
  )
}

const SHOWN = 20

/** Executions of the same workflow, those that completed first: the last success is the usual choice. */
function Choice({ id }: { id: string }) {
  const answer = useQuery(`comparable ${id}`, async (signal) => {
    const path = `/executions/${encodeURIComponent(id)}`
    const { namespace, workflow } = toExecution(
      await send({ method: 'GET', path, query: { payloads: 'omit' } }, signal),
    )
    const query = { namespace, workflow_name: workflow, limit: String(SHOWN) }
    const pages = await Promise.all([
      listExecutions({ ...query, state: 'COMPLETED' }, signal),
      listExecutions(query, signal),
    ])
    const rows = new Map(
      pages.flatMap(({ executions }) => executions.map((row) => [row.execution_id, row] as const)),
    )
    rows.delete(id)
    return { workflow, rows: [...rows.values()] }
  })
  return (
    <Loaded answer={answer}>
      {({ workflow, rows }) => (
        <>
          <p>
            <Link to={executionAddress(id)} class="mono">
              {id}
            </Link>{' '}
            with another execution of <bdi>{workflow}</bdi>, the last that completed first:
          </p>
          {rows.length === 0 ? (
            <Empty title="There is no other execution of this workflow" />
          ) : (
            <DataTable label="Executions" heads={['Execution', 'State', 'Created']}>
              {rows.map(({ execution_id, state, created_at }) => (
                <tr key={execution_id}>
                  <th scope="row">
                    <Link to={compareAddress(id, execution_id)} class="mono">
                      {execution_id}
                    </Link>
                  </th>
                  <td>
                    <StateBadge state={state} />
                  </td>
                  <td class="num">
                    <Since at={millis(created_at) ?? 0} />
                  </td>
                </tr>
              ))}
            </DataTable>
          )}
        </>
      )}
    </Loaded>
  )
}
