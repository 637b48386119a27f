import { setTimeout as pause } from 'node:timers/promises'
import type { CatalogService, Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { RpcClient } from '@windlass/rpc/client'
import { Fault } from '@windlass/runtime/faults'
import { toWorkflowPart, type WorkflowPart } from './domain/frame.ts'

const MAX_CACHED_CHARS = 32 * 1_048_576
const CATALOG_TIMEOUT_MS = 3_000
const RETRY_MS = 250
/** Retries end after this; undelivered work is queued again at its claim deadline (10 s). */
const RETRY_BUDGET_MS = 6_000

/** Workflow versions as encoded for frames. A version never changes, so no entry is ever outdated. */
export class WorkflowCache {
  readonly #catalog: Pick<RpcClient<CatalogService>, 'getById'>
  /** Least recently used first. */
  readonly #parts = new Map<string, WorkflowPart>()
  readonly #inFlight = new Map<string, Promise<WorkflowPart>>()
  #chars = 0

  constructor(catalog: Pick<RpcClient<CatalogService>, 'getById'>) {
    this.#catalog = catalog
  }

  async get(workflow_id: string): Promise<WorkflowPart> {
    const known = this.#parts.get(workflow_id)
    if (known) {
      this.#parts.delete(workflow_id)
      this.#parts.set(workflow_id, known)
      return known
    }
    const fetching = this.#inFlight.get(workflow_id) ?? this.#fetch(workflow_id)
    this.#inFlight.set(workflow_id, fetching)
    return await fetching
  }

  async #fetch(id: string): Promise<WorkflowPart> {
    try {
      const workflow = await this.#getFromCatalog(id)
      const part = toWorkflowPart(workflow, Buffer.from(workflow.source).toString('base64'))
      this.#store(id, part)
      return part
    } finally {
      this.#inFlight.delete(id)
    }
  }

  /** Retries for a while: when one replica of the catalog hangs, another may answer. */
  async #getFromCatalog(id: string): Promise<Workflow> {
    const until_ms = performance.now() + RETRY_BUDGET_MS
    for (;;) {
      try {
        return await this.#catalog.getById({ id }, { timeoutMs: CATALOG_TIMEOUT_MS })
      } catch (error) {
        const isTransient = error instanceof Fault && error.kind === 'unavailable'
        if (!isTransient || performance.now() > until_ms) throw error
      }
      await pause(RETRY_MS)
    }
  }

  #store(id: string, part: WorkflowPart): void {
    this.#parts.set(id, part)
    this.#chars += part.workflow.length
    for (const [oldest, { workflow }] of this.#parts) {
      if (this.#chars <= MAX_CACHED_CHARS) return
      this.#parts.delete(oldest)
      this.#chars -= workflow.length
    }
  }
}
