/*
 * The audit chain: an audit log whose entries cannot be changed unnoticed.
 *
 * Problem. The audit log answers who changed what. It must be evidence against an operator with
 * access to the database as well, who can update and delete any row.
 *
 * Structure. Every entry holds the hash of the entry before it, as in a hash chain (Haber and
 * Stornetta, "How to Time-Stamp a Digital Document", 1991):
 *
 *      GENESIS (32 zero bytes)
 *         |
 *      hash 1 = SHA-256(GENESIS | canonical JSON of entry 1)
 *         |
 *      hash 2 = SHA-256(hash 1  | canonical JSON of entry 2)
 *         |
 *      head = { seq, hash } of the newest entry, kept in a row of its own
 *
 * The canonical form is a JSON array of ten members in a fixed order, so there is no order of object
 * members and no optional member to disagree about. It never changes: old entries must verify
 * with every later release.
 *
 * Appending. The writer (services/identity) locks the row of the head, so replicas append to one
 * chain without gaps in `seq`. Entries of one batch are appended in one transaction.
 *
 * Verifying. `AuditChainVerifier` reads all entries from the first and reports every break: a gap in
 * the numbers, an entry out of order, an entry whose hash does not match its content, an entry that
 * does not continue the one before. After a break it continues from what the entry itself claims, so
 * one changed entry is one problem and not one for each later entry. `windlass audit verify` runs it
 * over the HTTP API, outside of the server that it checks.
 *
 * What the chain alone does not prove. The owner of the database can replace the whole chain, or
 * cut off its end and set the head back. Against that, a head that was noted elsewhere is given to
 * the verifier: the chain must contain it, unchanged. Everything up to a noted head is then evidence.
 * An entry that was never written leaves no trace: changes are recorded before they are made
 * (`begun`) or in the same transaction. See ADR 7.
 *
 * Pruning. Entries up to a checkpoint may be deleted, once they were exported. The log then begins
 * with the entry after it, whose `previous_hash` is the hash of the checkpoint, and a later entry
 * `audit.prune` contains number and hash of the checkpoint: without it, the first entries are missing.
 * The exported file and the remaining log verify as one chain.
 */
import { createHash } from 'node:crypto'
import { INTERNAL_ISSUER } from './caller.ts'

/** Names of the audited actions. */
export const ACTIONS = [
  'principal.create',
  'principal.update',
  'principal.delete',
  'principal.grant_role',
  'principal.revoke_role',
  'key.create',
  'key.revoke',
  'anonymous.confirm',
  'anonymous.revoke',
  'role.create',
  'role.update',
  'role.delete',
  'secret.put',
  'secret.delete',
  'secret.read',
  'secret.use',
  'secret.rotate_key',
  'config.put',
  'config.delete',
  'worker.register',
  'worker.end_session',
  'worker_token.create',
  'worker_token.revoke',
  'workflow.upload',
  'workflow.delete',
  'schedule.create',
  'schedule.update',
  'schedule.pause',
  'schedule.resume',
  'schedule.delete',
  'execution.cancel',
  'execution.run',
  'execution.resume',
  'approval.approve',
  'approval.reject',
  'audit.prune',
] as const
export type Action = (typeof ACTIONS)[number]

/**
 * Outcomes of an action. `begun` is recorded before a change whose owner is another service than
 * identity, and is followed by one of the others: `denied` lacked a permission, `failed` was refused
 * for another reason, `unknown` broke off in flight and may have happened.
 */
export const OUTCOMES = ['begun', 'done', 'denied', 'failed', 'unknown'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Objects of actions, in the form by which the log is searched. */
export const objects = {
  principal: (subject = '', issuer = INTERNAL_ISSUER) =>
    named('principal', subject && `${issuer}/${subject}`),
  key: (principal: string, name = '') => named(principal.replace(/^principal/, 'key'), name, '/'),
  role: (name = '') => named('role', name),
  secret: (name = '') => named('secret', name),
  config: (name = '') => named('config', name),
  worker: (name = '') => named('worker', name),
  workerToken: (name = '') => named('worker_token', name),
  workflow: (namespace = '', name = '') => named('workflow', namespace && `${namespace}/${name}`),
  schedule: (ref = '') => named('schedule', ref),
  execution: (id = '') => named('execution', id),
  approval: (id = '', call = '') => named('approval', id && `${id}/${call}`),
}

const named = (kind: string, name: string, mark = ':') => (name === '' ? kind : kind + mark + name)

const MAX_DETAIL_CHARS = 16_384

/** Details of a change as JSON text. A text longer than MAX_DETAIL_CHARS is replaced by its length and hash. */
export function detailOf(detail: Record<string, unknown> = {}): string {
  const text = JSON.stringify(detail)
  if (text.length <= MAX_DETAIL_CHARS) return text
  const sha256 = createHash('sha256').update(text).digest('hex')
  return JSON.stringify({ omitted_chars: text.length, sha256 })
}

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

/** Hash before the first entry. */
export const GENESIS = Buffer.alloc(32)

/**
 * The hash of an entry: SHA-256 over the 32 bytes of the hash before it, then the UTF-8 of this JSON
 * array without blanks: number, time, subject, issuer, key prefix, request id, action, object,
 * outcome, detail (as a string).
 */
export function hashEntry(previous: Uint8Array, entry: HashedEntry): Buffer {
  const { seq, at, subject, issuer, key_prefix, request_id } = entry
  const { action, object, outcome, detail_json } = entry
  const canonical = JSON.stringify([
    ...[seq, at, subject, issuer, key_prefix, request_id],
    ...[action, object, outcome, detail_json],
  ])
  return createHash('sha256').update(previous).update(canonical, 'utf8').digest()
}

/** Number and hash of an entry. Noted elsewhere, it proves every entry up to it. */
export interface Head {
  seq: number
  hash: Buffer
}

export type ChainedEntry = HashedEntry & { previous_hash: Buffer; hash: Buffer }

/** Verifies a chain entry by entry, from the first, and collects its problems. */
export class AuditChainVerifier {
  readonly problems: string[] = []
  #seq = 0
  #hash: Buffer = GENESIS
  readonly #remembered: Head | undefined
  /** The entry before the first one of a log whose beginning is not there. */
  #base: Head | undefined
  #isBasePruned = false

  /** `start` is the last entry of a verified part, from which the entries continue. */
  constructor(remembered?: Head, start: Head = { seq: 0, hash: GENESIS }) {
    this.#remembered = remembered
    this.#seq = start.seq
    this.#hash = start.hash
  }

  /** The last verified entry. */
  get head(): Head {
    return { seq: this.#seq, hash: this.#hash }
  }

  /** Verifies the next entry. After a break it continues from what the entry itself claims. */
  verifyNext(entry: ChainedEntry): void {
    const { seq, previous_hash, hash } = entry
    if (this.#seq === 0 && seq > 1) this.#base = { seq: seq - 1, hash: previous_hash }
    else if (seq > this.#seq + 1) this.#missing(this.#seq + 1, seq - 1)
    else if (seq <= this.#seq) this.problems.push(`entry ${seq} is out of order`)
    else if (!previous_hash.equals(this.#hash))
      this.problems.push(
        seq === 1
          ? 'entry 1 does not begin the chain'
          : `entry ${seq} does not continue entry ${seq - 1}: one of them was changed`,
      )
    if (!hashEntry(previous_hash, entry).equals(hash))
      this.problems.push(`entry ${seq} was changed`)
    if (seq === this.#remembered?.seq && !hash.equals(this.#remembered.hash))
      this.problems.push(`entry ${seq} is not the one that was remembered`)
    if (this.#base && prunesUpTo(entry, this.#base)) this.#isBasePruned = true
    this.#seq = seq
    this.#hash = hash
  }

  /** Verifies that the chain reaches the head that the log claims and the head that was noted. */
  verifyEnd(claimed: Head): void {
    if (this.#base) this.#verifyBase(this.#base)
    const last = Math.max(claimed.seq, this.#remembered?.seq ?? 0)
    if (last > this.#seq) this.#missing(this.#seq + 1, last)
    else if (claimed.seq < this.#seq || !claimed.hash.equals(this.#hash))
      this.problems.push('the head of the log is not its last entry')
  }

  /** Verifies that the entries before the first one were pruned, and that the noted head is not among them. */
  #verifyBase({ seq, hash }: Head): void {
    const remembered = this.#remembered
    if (!this.#isBasePruned) this.#missing(1, seq)
    else if (remembered?.seq === seq && !remembered.hash.equals(hash))
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
function prunesUpTo({ action, outcome, detail_json }: HashedEntry, { seq, hash }: Head): boolean {
  if (action !== 'audit.prune' || outcome !== 'done') return false
  const detail = JSON.parse(detail_json) as { to_seq?: unknown; to_hash?: unknown }
  return detail.to_seq === seq && detail.to_hash === hash.toString('hex')
}
