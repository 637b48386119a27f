import { createHash } from 'node:crypto'
import type { DeclaredWorkflow } from '@windlass/python-analysis/declared-workflows'
import { LRUCache } from 'lru-cache'

const MAX_CACHE_BYTES = 16_777_216
const ENTRY_BYTES = 1_024

/** Analyses a source; the principal is the key of its uploader. */
type Analyse = (source: Uint8Array, principal?: string) => Promise<DeclaredWorkflow[]>

/**
 * LRU cache of analysis results by the hash of the source, because an upload is analysed for its
 * permissions and registered a moment later. Concurrent requests for equal sources share one analysis.
 */
export class AnalysisCache {
  readonly #analyse: Analyse
  readonly #pending = new Map<string, Promise<DeclaredWorkflow[]>>()
  readonly #results = new LRUCache<string, DeclaredWorkflow[]>({
    maxSize: MAX_CACHE_BYTES,
    sizeCalculation: (workflows) =>
      workflows.reduce((bytes, workflow) => bytes + bytesOf(workflow), ENTRY_BYTES),
  })

  constructor(analyse: Analyse) {
    this.#analyse = analyse
  }

  async analyse(source: Uint8Array, principal?: string): Promise<DeclaredWorkflow[]> {
    const hash = hashSource(source)
    const known = this.#results.get(hash) ?? this.#pending.get(hash)
    return known ?? this.#analyseNew(hash, this.#analyse(source, principal))
  }

  async #analyseNew(hash: string, analysis: ReturnType<Analyse>): Promise<DeclaredWorkflow[]> {
    this.#pending.set(hash, analysis)
    try {
      const workflows = await analysis
      this.#results.set(hash, workflows)
      return workflows
    } finally {
      this.#pending.delete(hash)
    }
  }
}

/** SHA-256 of a source in hex: its key in the cache and in the table `sources`. */
export const hashSource = (source: Uint8Array): string =>
  createHash('sha256').update(source).digest('hex')

const bytesOf = ({ metadata_json, input_schema_json, imports }: DeclaredWorkflow): number =>
  2 * [metadata_json, input_schema_json, ...imports].join('').length + ENTRY_BYTES
