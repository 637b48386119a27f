import { readConfigsOf } from '../api/entries.ts'
import { useQuery } from '../api/use-query.ts'
import type { Workflow } from '../api/workflows.ts'
import { millis } from '../format/time.ts'
import { entryAddress } from '../location/address.ts'
import { DataTable } from '../ui/data-table.tsx'
import { ExecutionLink } from '../ui/execution-link.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Ago } from '../ui/times.tsx'

const EVERY_MS = 30_000

/** Configs that executions of a workflow read, of all its versions. */
export function UsedConfigs({ namespace, name }: Pick<Workflow, 'namespace' | 'name'>) {
  const now = useNow()
  const answer = useQuery(
    `configs of ${namespace}/${name}`,
    (signal) => readConfigsOf(namespace, name, signal),
    { every: EVERY_MS },
  )
  return (
    <section class="page-body" aria-label="Configs">
      <h2>Configs</h2>
      <Loaded answer={answer} lines={2}>
        {({ configs, cut }) => {
          if (!configs) return <p class="faint">You need the permission config:*:read</p>
          if (configs.length === 0)
            return <p class="faint">It has read none in the last 400 days.</p>
          return (
            <>
              <DataTable
                label="Configs"
                heads={['Config', 'Newest version that read it', 'Last read', 'Execution']}
              >
                {configs.map(({ name: config, version, last_used_at, last_execution_id }) => (
                  <tr key={config}>
                    <td>
                      <Link to={entryAddress('configs', config)}>
                        <bdi>{config}</bdi>
                      </Link>
                    </td>
                    <td class="num">{version}</td>
                    <td class="num">
                      <Ago at={millis(last_used_at)} now={now} />
                    </td>
                    <td>
                      <ExecutionLink id={last_execution_id} />
                    </td>
                  </tr>
                ))}
              </DataTable>
              {cut && <p class="faint">There are more, which are not listed.</p>}
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
