import { readConfigUses } from '../api/entries.ts'
import { useQuery } from '../api/use-query.ts'
import { count } from '../format/time.ts'
import { workflowAddress } from '../location/address.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { ConfigUseCells } from './config-use-cells.tsx'

const EVERY_MS = 30_000

/** Workflows that read a config, as far as the caller may see them. */
export function ConfigUses({ name }: { name: string }) {
  const answer = useQuery(`uses of config ${name}`, (signal) => readConfigUses(name, signal), {
    every: EVERY_MS,
  })
  return (
    <section class="page-body" aria-label="Uses">
      <h2>Used by</h2>
      <Loaded answer={answer} lines={3}>
        {({ workflows, others }) => (
          <>
            {workflows.length === 0 ? (
              <p class="faint">No workflow that you may see has read it in the last 400 days.</p>
            ) : (
              <DataTable label="Uses" heads={['Workflow', 'Version', 'Last read', 'Execution']}>
                {workflows.map((use) => (
                  <tr key={`${use.namespace}/${use.name}`}>
                    <th scope="row">
                      <Link to={workflowAddress(use.namespace, use.name, { tab: 'uses' })}>
                        <bdi>
                          {use.namespace}/{use.name}
                        </bdi>
                      </Link>
                    </th>
                    <ConfigUseCells {...use} />
                  </tr>
                ))}
              </DataTable>
            )}
            {others > 0 && <p class="faint">{count(others)} more that are not listed.</p>}
          </>
        )}
      </Loaded>
    </section>
  )
}
