import { useQuery } from '../api/use-query.ts'
import { listWorkflows, type WorkflowRow } from '../api/workflows.ts'
import { startAddress, workflowAddress } from '../location/address.ts'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { UploadPanel } from '../workflow/upload-panel.tsx'

const EVERY_MS = 10_000

/** All workflows that the caller may read, and the upload of a new version. */
export function WorkflowsScreen() {
  const answer = useQuery('workflows', listWorkflows, { every: EVERY_MS })
  return (
    <Page title="Workflows" aside={answer.data && <span class="count">{answer.data.length}</span>}>
      <UploadPanel onUploaded={answer.refresh} />
      <Loaded answer={answer}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No workflow yet">
              <p>Drop a Python file above, or choose one.</p>
            </Empty>
          ) : (
            <Rows rows={rows} />
          )
        }
      </Loaded>
    </Page>
  )
}

const Rows = ({ rows }: { rows: readonly WorkflowRow[] }) => (
  <div class="table-frame">
    <table class="rows" aria-label="Workflows">
      <thead>
        <tr>
          <th scope="col">Workflow</th>
          <th scope="col">Namespace</th>
          <th scope="col">Version</th>
          <th scope="col">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ namespace, name, version }) => (
          <tr key={`${namespace}/${name}`}>
            <th scope="row" class="wide">
              <Link to={workflowAddress(namespace, name)} class="name">
                <bdi>{name}</bdi>
              </Link>
            </th>
            <td class="faint">{namespace}</td>
            <td class="num">{version}</td>
            <td class="right">
              <Link
                to={startAddress(namespace, name)}
                class="quiet-link"
                aria-label={`Run ${namespace}/${name}`}
              >
                <Icon name="play" /> Run
              </Link>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
