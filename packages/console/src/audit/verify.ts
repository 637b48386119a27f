/**
 * Verifies the audit chain in the browser: every entry is read and hashed here, so the result does not
 * depend on what the server claims. `windlass audit verify` does the same.
 */
import { ChainLinks, canonicalTextOf, type HexHead } from '@windlass/domain/audit-chain'
import {
  type CheckpointList,
  lastPruned,
  verifyCheckpoints,
} from '@windlass/domain/audit-checkpoint'
import type { AuditEntry } from '@windlass/domain/audit-entry'
import { browserCrypto } from './browser-crypto.ts'
import { toEntries } from './entry.ts'

export interface VerifiedChain {
  problems: string[]
  /** Facts that are no problem, such as a pruned part. */
  notes: string[]
  entries: number
  /** Number of checkpoints with a valid signature, and the ids of their keys. */
  checkpoints: number
  kids: string[]
  /** The last entry; noted elsewhere, it proves every entry up to it. */
  head: HexHead
}

interface Source {
  /** Reads entries after a number, oldest first. */
  readPage(after: number): Promise<{ entries: string; head: HexHead }>
  readCheckpoints(): Promise<CheckpointList>
  /** Called with the number of entries that are verified and the last number of the log. */
  onProgress(done: number, last: number): void
}

/** Parses `SEQ:HASH`; undefined for any other text. */
export function toHead(text: string): HexHead | undefined {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? []
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash }
}

/**
 * Verifies the whole chain and its checkpoints, and that it contains the head that was noted; again if a problem was found
 * and entries were pruned meanwhile.
 */
export async function verifyChain(source: Source, noted?: HexHead): Promise<VerifiedChain> {
  for (;;) {
    const list = await source.readCheckpoints()
    const result = await verifyOnce(source, list, noted)
    if (result.problems.length === 0) return result
    if (lastPruned(await source.readCheckpoints()) === lastPruned(list)) return result
  }
}

async function verifyOnce(
  { readPage, onProgress }: Source,
  list: CheckpointList,
  noted: HexHead | undefined,
): Promise<VerifiedChain> {
  const { checkpoints, kids, problems } = await verifyCheckpoints(list, browserCrypto)
  const links = new ChainLinks(noted, undefined, checkpoints)
  let entries = 0
  for (;;) {
    const after = links.head.seq
    const page = await readPage(after)
    const list = toEntries(page.entries)
    const hashes = await Promise.all(list.map(hashOf))
    for (const [i, entry] of list.entries()) {
      const { previous_hash: previous, hash: claimed } = entry
      links.verifyNext(entry, { previous, claimed, actual: hashes[i] ?? '' })
    }
    entries += list.length
    onProgress(entries, page.head.seq)
    // The log may have grown since the previous page; the head is that of this page.
    const { seq } = links.head
    if (seq <= after || seq >= page.head.seq) {
      links.verifyEnd(page.head)
      return {
        ...{ problems: [...problems, ...links.problems], notes: links.notes, entries },
        ...{ head: links.head, checkpoints: checkpoints.length, kids },
      }
    }
  }
}

const BYTE = /../g

async function hashOf(entry: AuditEntry): Promise<string> {
  const previous = (entry.previous_hash.match(BYTE) ?? []).map((hex) => Number.parseInt(hex, 16))
  const text = new TextEncoder().encode(canonicalTextOf(entry))
  const digest = await crypto.subtle.digest('SHA-256', Uint8Array.from([...previous, ...text]))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
