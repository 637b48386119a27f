import { objects } from '@windlass/domain/audit'
import { ALL_WORKFLOWS } from '@windlass/domain/list-workflows'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { z } from 'zod'
import { onBehalfOf } from '../access/caller.ts'
import type { Quotas } from '../access/quotas.ts'
import type { Clients } from '../clients/connect.ts'
import { JsonText } from '../domain/views.ts'
import { flag, text, versionParam, versionQuery } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { upload } from '../route/upload.ts'
import { Success } from './schemas.ts'
import { findWarnings } from './upload-checks.ts'

type Deps = Pick<Clients, 'catalog' | 'fleet' | 'scheduler'> & { quotas: Quotas }

const Row = z
  .object({ namespace: z.string(), name: z.string(), version: z.int() })
  .meta({ id: 'WorkflowRow' })

/** Why no connected worker could run it; absent if one could or none is connected. */
const warnings = z.array(z.string()).optional()

const UploadedRow = Row.extend({ warnings }).meta({ id: 'UploadedWorkflow' })

const declared = {
  imports: z.array(z.string()),
  requests: z.record(z.string(), z.unknown()),
  affinity: z.record(z.string(), z.string()).nullable(),
  metadata: z.record(z.string(), z.unknown()),
}

const WorkflowView = z
  .object({
    id: z.string(),
    namespace: z.string(),
    name: z.string(),
    version: z.int(),
    source: z.string().meta({ contentEncoding: 'base64' }),
    ...declared,
  })
  .meta({ id: 'Workflow' })

/** A workflow that an upload would create. It has no version: another upload may come first. */
const Draft = z
  .object({ namespace: z.string(), name: z.string(), version: z.null(), ...declared, warnings })
  .meta({ id: 'WorkflowDraft' })

const rowOf = ({ namespace, name, version }: Workflow) => ({ namespace, name, version })

/** The declared values are JSON text already. */
const viewOf = (workflow: Workflow) =>
  new JsonText(
    `{"id":"${workflow.id}","namespace":"${workflow.namespace}"` +
      `,"name":${JSON.stringify(workflow.name)},"version":${workflow.version}` +
      `,"source":"${workflow.source.toString('base64')}",${declaredBy(workflow)}}`,
  )

const declaredBy = ({ imports, requests_json, affinity_json, metadata_json }: Workflow) =>
  `"imports":${JSON.stringify(imports)}` +
  `,"requests":${requests_json === 'null' ? '{}' : requests_json || '{}'}` +
  `,"affinity":${affinity_json || 'null'},"metadata":${metadata_json || '{}'}`

const draftsOf = (workflows: readonly Workflow[], warnings: readonly string[][]) =>
  new JsonText(
    `[${workflows
      .map(
        (workflow, i) =>
          `{"namespace":"${workflow.namespace}","name":${JSON.stringify(workflow.name)}` +
          `,"version":null,${declaredBy(workflow)}${warningsText(warnings[i])}}`,
      )
      .join()}]`,
  )

const warningsText = (warnings: readonly string[] = []) =>
  warnings.length > 0 ? `,"warnings":${JSON.stringify(warnings)}` : ''

const REGISTER_MS = 30_000
const RECONCILE_MS = 2_000

export const uploadWorkflows = route('post', '/workflows', {
  summary: 'Upload a Python source; each of its workflows gets a new version',
  access: 'may register',
  query: {
    dry_run: flag.default(false).describe('Return what the source declares and store nothing'),
    if_changed: flag
      .default(false)
      .describe('Keep the latest version of a workflow if it came from the same file'),
  },
  body: upload,
  returns: z.union([z.array(UploadedRow), z.array(Draft)]),
  audit: {
    action: 'workflow.upload',
    object: ({ resolved }) =>
      resolved?.workflows.map(({ namespace, name }) => objects.workflow(namespace, name)) ??
      objects.workflow(),
    isDryRun: ({ query }) => query?.dry_run ?? false,
    recorded: 'around',
  },
  async handle({ query: { dry_run, if_changed }, resolved, caller, ctx }, deps: Deps) {
    await deps.quotas.countUpload(caller, [
      ...new Set(resolved.workflows.map(({ namespace }) => namespace)),
    ])
    const warned = findWarnings(deps, resolved.workflows)
    if (dry_run) return draftsOf(resolved.workflows, await warned)
    const { workflows } = await deps.catalog.register(
      { source: resolved.source, if_changed },
      { ...onBehalfOf(ctx, caller), timeoutMs: REGISTER_MS },
    )
    await reconcile(deps, workflows)
    const warnings = await warned
    return workflows.map((workflow, i) => ({
      ...rowOf(workflow),
      ...(warnings[i]?.length ? { warnings: warnings[i] } : {}),
    }))
  },
})

/** Updates declared schedules before the response. If that fails, an event triggers it later. */
async function reconcile(
  { scheduler }: Deps,
  workflows: readonly Pick<Workflow, 'namespace' | 'name'>[],
): Promise<void> {
  const asked = workflows.map(({ namespace, name }) =>
    scheduler.reconcile(
      { workflow_namespace: namespace, workflow_name: name },
      { timeoutMs: RECONCILE_MS },
    ),
  )
  await Promise.allSettled(asked)
}

export const listWorkflows = route('get', '/workflows', {
  summary: 'List the workflows that the caller may read, at their latest versions',
  access: 'sees readable',
  query: { namespace: text(255).default('') },
  returns: z.array(Row),
  async handle({ query, resolved: mayRead }, { catalog }: Deps) {
    const { workflows } = await catalog.list({ ...ALL_WORKFLOWS, ...query, names_only: true })
    return workflows.filter(mayRead).map(rowOf)
  },
})

export const listNamespaces = route('get', '/namespaces', {
  summary: 'List namespaces with the number of workflows that the caller may read',
  access: 'sees readable',
  returns: z.array(z.object({ namespace: z.string(), workflow_count: z.int() })),
  async handle({ resolved: mayRead }, { catalog }: Deps) {
    const { workflows } = await catalog.list({ ...ALL_WORKFLOWS, names_only: true })
    const counts = new Map<string, number>()
    for (const { namespace } of workflows.filter(mayRead))
      counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
    return [...counts].map(([namespace, workflow_count]) => ({ namespace, workflow_count }))
  },
})

export const getWorkflow = route('get', '/workflows/{namespace}/{workflow_name}', {
  summary: 'Show the latest version of a workflow',
  access: 'workflow:{namespace}:{workflow_name}:read',
  returns: WorkflowView,
  handle: async ({ params: { namespace, workflow_name: name } }, { catalog }: Deps) =>
    viewOf(await catalog.get({ namespace, name, version: 0 })),
})

export const listVersions = route('get', '/workflows/{namespace}/{workflow_name}/versions', {
  summary: 'List the versions of a workflow, newest first',
  access: 'workflow:{namespace}:{workflow_name}:read',
  returns: z.array(z.object({ id: z.string(), name: z.string(), version: z.int() })),
  async handle({ params: { namespace, workflow_name: name } }, { catalog }: Deps) {
    const { workflows } = await catalog.listVersions({ namespace, name })
    return workflows.map(({ id, name, version }) => ({ id, name, version }))
  },
})

export const getVersion = route(
  'get',
  '/workflows/{namespace}/{workflow_name}/versions/{version}',
  {
    summary: 'Show a version of a workflow',
    access: 'workflow:{namespace}:{workflow_name}:read',
    params: { version: versionParam('version') },
    returns: WorkflowView,
    handle: async ({ params: { namespace, workflow_name: name, version } }, { catalog }: Deps) =>
      viewOf(await catalog.get({ namespace, name, version })),
  },
)

export const deleteWorkflow = route('delete', '/workflows/{namespace}/{workflow_name}', {
  summary: 'Delete a version of a workflow, or all of them',
  access: 'workflow:{namespace}:*:register',
  query: { version: versionQuery },
  returns: Success,
  audit: {
    action: 'workflow.delete',
    object: ({ params }) => objects.workflow(params.namespace, params.workflow_name),
    recorded: 'around',
  },
  async handle({ params: { namespace, workflow_name: name }, query, caller, ctx }, deps: Deps) {
    const { version } = query
    await deps.catalog.delete({ namespace, name, version: version ?? 0 }, onBehalfOf(ctx, caller))
    await reconcile(deps, [{ namespace, name }])
    const what = version === undefined ? '(all versions)' : `version ${version}`
    const message = `Workflow '${namespace}/${name}' ${what} deleted successfully`
    return { status: 'success' as const, message }
  },
})
