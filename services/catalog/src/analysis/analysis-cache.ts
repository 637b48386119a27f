import { createHash } from 'node:crypto'
import type { DeclaredWorkflow } from '@windlass/python-analysis/declared-workflows'

const MAX_CACHE_BYTES = 16_777_216
const ENTRY_BYTES = 1_024

interface CacheEntry {
  workflows: Promise<DeclaredWorkflow[]>
  /** 0 while the analysis is in flight. */
  bytes: number
}

/**
 * LRU cache of analysis results by the hash of the source: an upload is analysed for its permissions
 * and registered a moment later. Concurrent requests for equal sources share one analysis.
 */
export class AnalysisCache {
  readonly #analyse: (source: Uint8Array) => Promise<DeclaredWorkflow[]>
  /** The least recently used first. */
  readonly #entries = new Map<string, CacheEntry>()
  #bytes = 0

  constructor(analyse: (source: Uint8Array) => Promise<DeclaredWorkflow[]>) {
    this.#analyse = analyse
  }

  analyse(source: Uint8Array): Promise<DeclaredWorkflow[]> {
    const hash = hashSource(source)
    const known = this.#entries.get(hash)
    if (known) {
      this.#entries.delete(hash)
      this.#entries.set(hash, known)
      return known.workflows
    }
    const entry: CacheEntry = { workflows: this.#analyse(source), bytes: 0 }
    this.#entries.set(hash, entry)
    entry.workflows.then(
      (workflows) => this.#account(entry, workflows),
      () => this.#delete(hash),
    )
    return entry.workflows
  }

  #account(entry: CacheEntry, workflows: DeclaredWorkflow[]): void {
    entry.bytes = workflows.reduce((bytes, workflow) => bytes + bytesOf(workflow), ENTRY_BYTES)
    this.#bytes += entry.bytes
    for (const [hash, { bytes }] of this.#entries) {
      if (this.#bytes <= MAX_CACHE_BYTES) break
      if (bytes > 0) this.#delete(hash)
    }
  }

  #delete(hash: string): void {
    this.#bytes -= this.#entries.get(hash)?.bytes ?? 0
    this.#entries.delete(hash)
  }
}

/** SHA-256 of a source in hex: its key in the cache and in the table `sources`. */
export const hashSource = (source: Uint8Array): string =>
  createHash('sha256').update(source).digest('hex')

const bytesOf = ({ metadata_json, input_schema_json, imports }: DeclaredWorkflow): number =>
  2 * [metadata_json, input_schema_json, ...imports].join('').length + ENTRY_BYTES
