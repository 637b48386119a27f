/**
 * The rules of the audit chain without a hash function, so that a browser can verify the chain too:
 * `audit.ts` describes the chain and adds the hashes of Node. Hashes are lower-case hexadecimal here.
 */
import type { Checkpoint } from './audit-checkpoint.ts'

/** The members of an entry that its hash covers. */
export interface HashedEntry {
  /** 1, 2, 3, … */
  seq: number
  /** RFC 3339 in UTC, to the millisecond. */
  at: string
  subject: string
  issuer: string
  key_prefix: string
  request_id: string
  action: string
  object: string
  outcome: string
  detail_json: string
}

/** The text that is hashed after the hash of the previous entry. Its form never changes. */
export const canonicalTextOf = (entry: HashedEntry): string => {
  const { seq, at, subject, issuer, key_prefix, request_id } = entry
  const { action, object, outcome, detail_json } = entry
  return JSON.stringify([
    ...[seq, at, subject, issuer, key_prefix, request_id],
    ...[action, object, outcome, detail_json],
  ])
}

/** Hash before the first entry. */
export const GENESIS_HEX = '0'.repeat(64)

/** Number and hash of an entry. */
export interface HexHead {
  seq: number
  hash: string
}

/** The hashes that an entry claims, and the hash of its content. */
export interface EntryHashes {
  previous: string
  claimed: string
  actual: string
}

/** Verifies the links of a chain entry by entry, from the first, and collects its problems. */
export class ChainLinks {
  readonly problems: string[] = []
  /** Facts that are no problem, such as a pruned part. */
  readonly notes: string[] = []
  #last: HexHead
  readonly #remembered: HexHead | undefined
  /** With valid signatures. */
  readonly #checkpoints: readonly Checkpoint[]
  /** The hashes that were signed for an entry; more than one if a chain was rebuilt. */
  readonly #signed = new Map<number, string[]>()
  readonly #firstSigned: number
  readonly #lastSigned: number
  /** The entry before the first one of a log whose beginning is missing. */
  #base: HexHead | undefined
  /** The entry that records that the log was pruned up to the base. */
  #prune: { seq: number; isSigned: boolean } | undefined

  /** `start` is the last entry of a verified part, from which the entries continue. */
  constructor(
    remembered?: HexHead,
    start: HexHead = { seq: 0, hash: GENESIS_HEX },
    checkpoints: readonly Checkpoint[] = [],
  ) {
    this.#remembered = remembered
    this.#last = start
    this.#checkpoints = checkpoints
    for (const { seq, hash } of checkpoints)
      this.#signed.set(seq, [...(this.#signed.get(seq) ?? []), hash])
    const numbers = checkpoints.map(({ seq }) => seq).sort((a, b) => a - b)
    this.#firstSigned = numbers.at(0) ?? Number.POSITIVE_INFINITY
    this.#lastSigned = numbers.at(-1) ?? 0
  }

  /** Number of the last entry before the first one; 0 unless the beginning is missing. */
  get baseSeq(): number {
    return this.#base?.seq ?? 0
  }

  /** The last verified entry. */
  get head(): HexHead {
    return this.#last
  }

  /** Verifies the next entry. After a break it continues from what the entry itself claims. */
  verifyNext(entry: HashedEntry, { previous, claimed, actual }: EntryHashes): void {
    const { seq } = entry
    this.#verifyPlace(seq, previous)
    if (actual !== claimed) this.problems.push(`entry ${seq} was changed`)
    if (seq === this.#remembered?.seq && claimed !== this.#remembered.hash)
      this.problems.push(`entry ${seq} is not the one that was remembered`)
    if (this.#signed.get(seq)?.some((hash) => hash !== claimed))
      this.problems.push(`entry ${seq} is not the one of its signed checkpoint`)
    if (this.#base) this.#prune ??= findPrune(entry, this.#base)
    this.#last = { seq, hash: claimed }
  }

  #verifyPlace(seq: number, previous: string): void {
    const last = this.#last
    if (last.seq === 0 && seq > 1) this.#base = { seq: seq - 1, hash: previous }
    else if (seq > last.seq + 1) this.#missing(last.seq + 1, seq - 1)
    else if (seq <= last.seq) this.problems.push(`entry ${seq} is out of order`)
    else if (previous !== last.hash)
      this.problems.push(
        seq === 1
          ? 'entry 1 does not begin the chain'
          : `entry ${seq} does not continue entry ${seq - 1}: one of them was changed`,
      )
  }

  /**
   * Verifies that the chain contains the head that the log claims, the head that was noted elsewhere, and the entries of
   * all checkpoints. `isPart`: it may end before them, as an exported file does.
   */
  verifyEnd(claimed: HexHead, { isPart = false } = {}): void {
    if (this.#base) this.#verifyBase(this.#base)
    const { seq, hash } = this.#last
    const end = Math.max(claimed.seq, this.#remembered?.seq ?? 0, isPart ? 0 : this.#lastSigned)
    if (isPart && this.#lastSigned > seq)
      this.notes.push(`checkpoints of later entries than ${seq} were not compared`)
    if (end > seq) this.#missing(seq + 1, end)
    else if (claimed.seq < seq || claimed.hash !== hash)
      this.problems.push('the head of the log is not its last entry')
  }

  /**
   * Verifies that the entries before the first one were pruned, and that the noted head is not one of them.
   */
  #verifyBase(base: HexHead): void {
    const remembered = this.#remembered
    if (!this.#verifyPrune(base)) return
    if (remembered?.seq === base.seq && remembered.hash !== base.hash)
      this.problems.push(`entry ${base.seq} is not the one that was remembered`)
    else if (remembered && remembered.seq < base.seq)
      this.problems.push(`entry ${remembered.seq} was pruned: verify it with the exported file`)
  }

  /** True if the chain may begin after this entry. Releases before the first checkpoint pruned without one. */
  #verifyPrune({ seq, hash }: HexHead): boolean {
    const part = seq === 1 ? 'entry 1 was' : `entries 1 to ${seq} were`
    const signed = this.#checkpoints.find((one) => one.reason === 'prune' && one.seq === seq)
    const prune = this.#prune
    if (!signed && !prune) return this.#missing(1, seq)
    if (!signed && prune && (prune.isSigned || prune.seq > this.#firstSigned))
      return this.#problem(`${part} pruned, and no valid signed checkpoint covers them`)
    if (signed && signed.hash !== hash)
      return this.#problem(`entry ${seq + 1} does not continue the checkpoint of entry ${seq}`)
    this.notes.push(
      signed
        ? `${part} pruned on ${signed.at}, with a signed checkpoint`
        : `${part} pruned by a release that signed no checkpoints`,
    )
    return true
  }

  #missing(from: number, to: number): false {
    return this.#problem(
      from === to ? `entry ${from} is missing` : `entries ${from} to ${to} are missing`,
    )
  }

  #problem(text: string): false {
    this.problems.push(text)
    return false
  }
}

/** Parses an entry that records that the log was pruned up to the base; undefined for any other entry. */
function findPrune({ seq, action, outcome, detail_json }: HashedEntry, base: HexHead) {
  if (action !== 'audit.prune' || outcome !== 'done') return undefined
  const { to_seq, to_hash, key_id } = JSON.parse(detail_json) as Record<string, unknown>
  const isOfBase = to_seq === base.seq && to_hash === base.hash
  return isOfBase ? { seq, isSigned: key_id !== undefined } : undefined
}
