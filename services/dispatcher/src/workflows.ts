import type { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { RpcClient } from '@windlass/runtime/rpc-client'
import { type WorkflowPart, workflowPart } from './domain/frame.ts'

const MAX_CACHED_CHARS = 32 * 1_048_576
const CATALOG_MS = 5_000

/** Workflow versions as frames repeat them. They never change, so what was fetched once stays true. */
export class Workflows {
  readonly #catalog: Pick<RpcClient<CatalogService>, 'getById'>
  /** Least recently used first. */
  readonly #parts = new Map<string, WorkflowPart>()
  readonly #asked = new Map<string, Promise<WorkflowPart>>()
  #chars = 0

  constructor(catalog: Pick<RpcClient<CatalogService>, 'getById'>) {
    this.#catalog = catalog
  }

  async part(workflow_id: string): Promise<WorkflowPart> {
    const known = this.#parts.get(workflow_id)
    if (known) {
      this.#parts.delete(workflow_id)
      this.#parts.set(workflow_id, known)
      return known
    }
    const asked = this.#asked.get(workflow_id) ?? this.#fetch(workflow_id)
    this.#asked.set(workflow_id, asked)
    return await asked
  }

  async #fetch(id: string): Promise<WorkflowPart> {
    try {
      const workflow = await this.#catalog.getById({ id }, { timeoutMs: CATALOG_MS })
      const part = workflowPart(workflow, Buffer.from(workflow.source).toString('base64'))
      this.#keep(id, part)
      return part
    } finally {
      this.#asked.delete(id)
    }
  }

  #keep(id: string, part: WorkflowPart): void {
    this.#parts.set(id, part)
    this.#chars += part.workflow.length
    for (const [oldest, { workflow }] of this.#parts) {
      if (this.#chars <= MAX_CACHED_CHARS) return
      this.#parts.delete(oldest)
      this.#chars -= workflow.length
    }
  }
}
