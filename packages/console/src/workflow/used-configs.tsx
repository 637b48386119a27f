import { readConfigsOf } from '../api/entries.ts'
import { useQuery } from '../api/use-query.ts'
import type { Workflow } from '../api/workflows.ts'
import { ConfigUseCells } from '../entries/config-use-cells.tsx'
import { entryAddress } from '../location/address.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'

const EVERY_MS = 30_000

/** Configs that executions of a workflow read, of all its versions. */
export function UsedConfigs({ namespace, name }: Pick<Workflow, 'namespace' | 'name'>) {
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
                {configs.map((use) => (
                  <tr key={use.name}>
                    <th scope="row">
                      <Link to={entryAddress('configs', use.name)}>
                        <bdi>{use.name}</bdi>
                      </Link>
                    </th>
                    <ConfigUseCells {...use} />
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
