import { setTimeout as pause } from 'node:timers/promises'
import type { CatalogService, Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { RpcClient } from '@windlass/rpc/client'
import { Fault } from '@windlass/runtime/faults'
import { type WorkflowPart, workflowPart } from './domain/frame.ts'

const MAX_CACHED_CHARS = 32 * 1_048_576
const CATALOG_MS = 3_000
const RETRY_MS = 250
/** Until no more is tried. What is not given by then is given anew when its claim's deadline has passed. */
const PATIENCE_MS = 6_000

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
      const workflow = await this.#ask(id)
      const part = workflowPart(workflow, Buffer.from(workflow.source).toString('base64'))
      this.#keep(id, part)
      return part
    } finally {
      this.#asked.delete(id)
    }
  }

  /** Asks until somebody answers, for a while: a replica that hangs has a neighbour. */
  async #ask(id: string): Promise<Workflow> {
    const until_ms = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await this.#catalog.getById({ id }, { timeoutMs: CATALOG_MS })
      } catch (error) {
        const isPassing = error instanceof Fault && error.kind === 'unavailable'
        if (!isPassing || performance.now() > until_ms) throw error
      }
      await pause(RETRY_MS)
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
