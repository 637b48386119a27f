import type { CatalogService, Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import {
  type DeclaredWorkflow,
  withInputSchema,
} from '@windlass/python-analysis/declared-workflows'
import { callerOf, type Handlers } from '@windlass/rpc/call'
import { Fault, notFound } from '@windlass/runtime/faults'
import { parseId } from '@windlass/runtime/ids'
import type { AnalysisCache } from '../analysis/analysis-cache.ts'
import { type Changing, change } from '../change.ts'
import type { WorkflowName } from '../store/names.ts'
import * as versions from '../store/versions.ts'
import { deleteVersions } from './delete.ts'
import { compareVersions } from './diff.ts'
import { register } from './register.ts'
import { workflowNotFound } from './workflow-not-found.ts'

export interface HandlerDeps extends Changing {
  analyses: AnalysisCache
  maxSourceBytes: number
}

export function createHandlers(parts: HandlerDeps): Handlers<typeof CatalogService> {
  const { db } = parts
  const declared = (source: Uint8Array) => {
    if (source.length > parts.maxSourceBytes) {
      const reason = `Workflow source too large: more than ${parts.maxSourceBytes} bytes`
      throw new Fault('too_large', reason)
    }
    return parts.analyses.analyse(source)
  }
  const found = async (request: WorkflowName & { version: number }, withSource: boolean) => {
    const name = exact(request)
    const workflow = await versions.find(db, name, request.version, withSource)
    if (!workflow) throw workflowNotFound(name, request.version)
    return workflow
  }

  return {
    analyze: async ({ source }) => ({ workflows: (await declared(source)).map(unstored) }),

    async register(request, call) {
      const workflows = await declared(request.source)
      const upload = { ...request, uploader: callerOf(call) }
      const stored = await change(parts, (tx) => register(tx, workflows, upload))
      return {
        workflows: workflows.map((workflow, i) => ({ ...unstored(workflow), ...stored[i] })),
      }
    },

    resolve: (request) => found(request, false),

    get: (request) => found(request, true),

    async diff({ namespace, name, from_version, to_version }) {
      const [older, newer] = await Promise.all(
        [from_version, to_version].map((version) => found({ namespace, name, version }, true)),
      )
      return compareVersions(older as Workflow, newer as Workflow)
    },

    async getById({ id }) {
      const known = parseId(id)
      const workflow = known && (await versions.findById(db, known))
      if (!workflow) throw notFound('Workflow', id)
      return workflow
    },

    list: async ({ namespace }) => ({ workflows: await versions.listLatest(db, namespace) }),

    async listVersions(request) {
      const name = exact(request)
      const workflows = await versions.listVersions(db, name)
      if (workflows.length === 0) throw workflowNotFound(name)
      return { workflows }
    },

    delete: async (request) => ({
      deleted: await change(parts, (tx) =>
        deleteVersions(tx, { ...exact(request), version: request.version }),
      ),
    }),
  }
}

/** Names are stored in normal form and compared exactly. */
const exact = ({ namespace, name }: WorkflowName): WorkflowName => ({
  namespace: namespace.normalize('NFC'),
  name: name.normalize('NFC'),
})

/** A declared workflow as a record without what the store adds. */
const unstored = (declared: DeclaredWorkflow): Workflow => ({
  ...declared,
  id: '',
  version: 0,
  source: Buffer.alloc(0),
  metadata_json: withInputSchema(declared.metadata_json, declared.input_schema_json),
  created_at: undefined,
  created_by: '',
})
