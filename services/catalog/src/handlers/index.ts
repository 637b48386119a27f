import { ANONYMOUS_CALLER, type Caller } from '@windlass/domain/caller'
import { quotaKeys } from '@windlass/domain/quota-exceeded'
import type { CatalogService, Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import {
  type DeclaredWorkflow,
  withInputSchema,
} from '@windlass/python-analysis/declared-workflows'
import { type Call, callerOf, type Handlers } from '@windlass/rpc/call'
import type { CacheInvalidator } from '@windlass/runtime/cache-generation'
import { Fault, notFound } from '@windlass/runtime/faults'
import { parseId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import type { AnalysisCache } from '../analysis/analysis-cache.ts'
import * as versions from '../store/versions.ts'
import type { WorkflowName } from '../store/workflow-versions.ts'
import { deleteVersions } from './delete.ts'
import { compareVersions } from './diff.ts'
import { register } from './register.ts'
import { workflowNotFound } from './workflow-not-found.ts'

export interface HandlerDeps {
  db: Db
  /** Every change of the catalog is made through this function. */
  caches: CacheInvalidator
  analyses: AnalysisCache
  maxSourceBytes: number
}

export function createHandlers(deps: HandlerDeps): Handlers<typeof CatalogService> {
  const { db, caches } = deps
  const analyse = (source: Uint8Array, { caller }: Call) => {
    if (source.length > deps.maxSourceBytes) {
      const reason = `Workflow source too large: more than ${deps.maxSourceBytes} bytes`
      throw new Fault('too_large', reason)
    }
    return deps.analyses.analyse(source, principalOf(caller))
  }
  const getVersion = async (request: WorkflowName & { version: number }, withSource: boolean) => {
    const name = toExactName(request)
    const workflow = await versions.find(db, name, request.version, withSource)
    if (!workflow) throw workflowNotFound(name, request.version)
    return workflow
  }

  return {
    analyze: async ({ source }, call) => ({
      workflows: (await analyse(source, call)).map(toUnstoredRecord),
    }),

    async register(request, call) {
      const workflows = await analyse(request.source, call)
      const upload = { ...request, uploader: callerOf(call), traceparent: call.traceparent }
      const stored = await caches.commitAndInvalidate((tx) => register(tx, workflows, upload))
      return {
        workflows: workflows.map((workflow, i) => ({
          ...toUnstoredRecord(workflow),
          ...stored[i],
        })),
      }
    },

    resolve: (request) => getVersion(request, false),

    get: (request) => getVersion(request, true),

    async diff({ namespace, name, from_version, to_version }) {
      const [older, newer] = await Promise.all(
        [from_version, to_version].map((version) => getVersion({ namespace, name, version }, true)),
      )
      return compareVersions(older as Workflow, newer as Workflow)
    },

    async getById({ id }) {
      const known = parseId(id)
      const workflow = known && (await versions.findById(db, known))
      if (!workflow) throw notFound('Workflow', id)
      return workflow
    },

    list: async (request) => ({ workflows: await versions.listLatest(db, request) }),

    async listVersions(request) {
      const name = toExactName(request)
      const workflows = await versions.listVersions(db, name)
      if (workflows.length === 0) throw workflowNotFound(name)
      return { workflows }
    },

    delete: async (request, { traceparent }) => ({
      deleted: await caches.commitAndInvalidate((tx) =>
        deleteVersions(tx, { ...toExactName(request), version: request.version }, traceparent),
      ),
    }),
  }
}

/** Anonymous callers, and gateways of earlier releases, which name none for an analysis, share the turns of one. */
const principalOf = ({ issuer, subject }: Caller = ANONYMOUS_CALLER) =>
  quotaKeys.principal(issuer, subject)

/** Normalizes a name: names are stored in NFC and compared exactly. */
const toExactName = ({ namespace, name }: WorkflowName): WorkflowName => ({
  namespace: namespace.normalize('NFC'),
  name: name.normalize('NFC'),
})

/** Converts a declared workflow to a record without the members that the store adds. */
const toUnstoredRecord = (declared: DeclaredWorkflow): Workflow => ({
  ...declared,
  id: '',
  version: 0,
  source: Buffer.alloc(0),
  metadata_json: withInputSchema(declared.metadata_json, declared.input_schema_json),
  created_at: undefined,
  created_by: '',
})
