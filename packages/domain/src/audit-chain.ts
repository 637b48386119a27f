/**
 * The rules of the audit chain without a hash function, so that a browser can verify the chain too:
 * `audit.ts` describes the chain and adds the hashes of Node. Hashes are lower-case hexadecimal here.
 */

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
  #last: HexHead
  readonly #remembered: HexHead | undefined
  /** The entry before the first one of a log whose beginning is missing. */
  #base: HexHead | undefined
  #isBasePruned = false

  /** `start` is the last entry of a verified part, from which the entries continue. */
  constructor(remembered?: HexHead, start: HexHead = { seq: 0, hash: GENESIS_HEX }) {
    this.#remembered = remembered
    this.#last = start
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
    if (this.#base && prunesUpTo(entry, this.#base)) this.#isBasePruned = true
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
   * Verifies that the chain contains the head that the log claims and the head that was noted elsewhere.
   */
  verifyEnd(claimed: HexHead): void {
    if (this.#base) this.#verifyBase(this.#base)
    const { seq, hash } = this.#last
    const end = Math.max(claimed.seq, this.#remembered?.seq ?? 0)
    if (end > seq) this.#missing(seq + 1, end)
    else if (claimed.seq < seq || claimed.hash !== hash)
      this.problems.push('the head of the log is not its last entry')
  }

  /**
   * Verifies that the entries before the first one were pruned, and that the noted head is not one of them.
   */
  #verifyBase({ seq, hash }: HexHead): void {
    const remembered = this.#remembered
    if (!this.#isBasePruned) this.#missing(1, seq)
    else if (remembered?.seq === seq && remembered.hash !== hash)
      this.problems.push(`entry ${seq} is not the one that was remembered`)
    else if (remembered && remembered.seq < seq)
      this.problems.push(`entry ${remembered.seq} was pruned: verify it with the exported file`)
  }

  #missing(from: number, to: number): void {
    this.problems.push(
      from === to ? `entry ${from} is missing` : `entries ${from} to ${to} are missing`,
    )
  }
}

/** True if this entry records that the log was pruned up to that one. */
function prunesUpTo(
  { action, outcome, detail_json }: HashedEntry,
  { seq, hash }: HexHead,
): boolean {
  if (action !== 'audit.prune' || outcome !== 'done') return false
  const detail = JSON.parse(detail_json) as { to_seq?: unknown; to_hash?: unknown }
  return detail.to_seq === seq && detail.to_hash === hash
}
