import type { CatalogService } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { RpcClient } from '@windlass/rpc/client'
import { Fault } from '@windlass/runtime/faults'
import { retry } from '@windlass/runtime/retry'
import { LRUCache } from 'lru-cache'
import { toWorkflowPart, type WorkflowPart } from '../domain/frame.ts'

const MAX_CACHED_CHARS = 32 * 1_048_576
const CATALOG_TIMEOUT_MS = 3_000
const RETRY_MS = 250
/** Retries end after this; undelivered work is queued again at its claim deadline (10 s). */
const RETRY_BUDGET_MS = 6_000

/** Workflow versions as encoded for frames. A version never changes, so no entry is ever outdated. */
export class WorkflowCache {
  readonly #catalog: Pick<RpcClient<CatalogService>, 'getById'>
  readonly #parts = new LRUCache<string, WorkflowPart>({
    maxSize: MAX_CACHED_CHARS,
    sizeCalculation: ({ workflow }) => workflow.length,
  })
  readonly #inFlight = new Map<string, Promise<WorkflowPart>>()

  constructor(catalog: Pick<RpcClient<CatalogService>, 'getById'>) {
    this.#catalog = catalog
  }

  async get(workflow_id: string): Promise<WorkflowPart> {
    const known = this.#parts.get(workflow_id)
    if (known) return known
    const fetching = this.#inFlight.get(workflow_id) ?? this.#fetch(workflow_id)
    this.#inFlight.set(workflow_id, fetching)
    return await fetching
  }

  /** Retries for a while: when one replica of the catalog hangs, another may answer. */
  async #fetch(id: string): Promise<WorkflowPart> {
    const getWorkflow = () => this.#catalog.getById({ id }, { timeoutMs: CATALOG_TIMEOUT_MS })
    const isRetryable = (error: unknown) => error instanceof Fault && error.kind === 'unavailable'
    const options = { budgetMs: RETRY_BUDGET_MS, pauseMs: RETRY_MS, isRetryable }
    try {
      const workflow = await retry(getWorkflow, options)
      const part = toWorkflowPart(workflow, Buffer.from(workflow.source).toString('base64'))
      this.#parts.set(id, part)
      return part
    } finally {
      this.#inFlight.delete(id)
    }
  }
}
