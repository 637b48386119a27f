import { createHash } from 'node:crypto'
import type { Declared } from '../domain/analysis.ts'

const MAX_KEPT_BYTES = 16_777_216
const ENTRY_BYTES = 1_024

interface Kept {
  workflows: Promise<Declared[]>
  bytes: number
}

/**
 * Reads sources and keeps the last results by the hash of the source: an upload is analysed for its
 * permissions and registered a moment later. Equal sources that come together are read once.
 */
export class Analyzer {
  readonly #read: (source: Uint8Array) => Promise<Declared[]>
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>()
  #keptBytes = 0

  constructor(read: (source: Uint8Array) => Promise<Declared[]>) {
    this.#read = read
  }

  analyze(source: Uint8Array): Promise<Declared[]> {
    const hash = hashOf(source)
    const known = this.#kept.get(hash)
    if (known) {
      this.#kept.delete(hash)
      this.#kept.set(hash, known)
      return known.workflows
    }
    const kept: Kept = { workflows: this.#read(source), bytes: 0 }
    this.#kept.set(hash, kept)
    kept.workflows.then(
      (workflows) => this.#measure(kept, workflows),
      () => this.#forget(hash),
    )
    return kept.workflows
  }

  #measure(kept: Kept, workflows: Declared[]): void {
    kept.bytes = workflows.reduce((bytes, workflow) => bytes + bytesOf(workflow), ENTRY_BYTES)
    this.#keptBytes += kept.bytes
    for (const [hash, { bytes }] of this.#kept) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) break
      // What is still being read has no size yet.
      if (bytes > 0) this.#forget(hash)
    }
  }

  #forget(hash: string): void {
    this.#keptBytes -= this.#kept.get(hash)?.bytes ?? 0
    this.#kept.delete(hash)
  }
}

/** Under which a source is kept: its bytes, and nothing else, decide. */
export const hashOf = (source: Uint8Array): string =>
  createHash('sha256').update(source).digest('hex')

const bytesOf = ({ metadata_json, input_schema_json, imports }: Declared): number =>
  2 * [metadata_json, input_schema_json, ...imports].join('').length + ENTRY_BYTES
