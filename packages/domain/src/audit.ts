/*
 * The audit chain: an audit log whose entries cannot be changed unnoticed.
 *
 * Problem. The audit log answers who changed what. It must also be evidence against an operator with
 * access to the database, who can update and delete any row.
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
 * Appending. The writer (services/identity/src/store/audit.ts) locks the row of the head, so replicas
 * append to one chain without gaps in `seq`. Entries of one batch are appended in one transaction.
 *
 * Verifying. `AuditChainVerifier` reads all entries from the first and reports every break: a gap in
 * the numbers, an entry out of order, an entry whose hash does not match its content, an entry that
 * does not continue the one before. After a break it continues from the hash that the entry itself
 * claims, so one changed entry is one problem and not one for each later entry. `windlass audit verify`
 * runs it over the HTTP API, outside the server that it checks; the console runs it in the browser.
 *
 * Guaranteed. A changed, removed, inserted or reordered entry is reported, unless the chain from there on
 * was rebuilt or cut off.
 *
 * Not guaranteed. The owner of the database can rebuild the chain, or cut off its end and set the head
 * back, after the last checkpoint, or earlier if the checkpoints are deleted too. Against that, give the verifier a
 * head or a checkpoint that was saved elsewhere: the chain must contain it, unchanged, and everything up to it is then
 * evidence. An entry that was never written leaves no trace,
 * so changes are recorded before they are made (`begun`) or in the same transaction.
 *
 * Checkpoints (audit-checkpoint.ts). Each hour, and when entries are pruned, identity signs number and hash of an
 * entry. The owner of the database cannot sign, so a chain that was rebuilt or cut off differs from a checkpoint.
 *
 * Pruning. Entries up to a checkpoint may be deleted. The log then begins with the entry after it, whose
 * `previous_hash` is the hash of the checkpoint, and a later entry `audit.prune` contains number and hash of the
 * checkpoint. Without a signed checkpoint for the prune, the first entries are missing. Releases before the first
 * checkpoint signed none: there the entry alone counts. An exported file and the remaining log verify as one chain.
 *
 * Cost. All replicas append one at a time. A batch of entries is one insert and one update of the head.
 *
 * Rejected (ADR 7). Events in the outbox of each service: they would arrive late, in an order of their
 * own, and from services that do not know the caller. A chain for each replica: no order between their
 * entries, and the chain of a removed replica would never be extended.
 */
import { createHash } from 'node:crypto'
import { ChainLinks, canonicalTextOf, type HashedEntry, type HexHead } from './audit-chain.ts'
import type { Checkpoint } from './audit-checkpoint.ts'
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
  'execution.bulk',
  'approval.approve',
  'approval.reject',
  'audit.prune',
] as const
export type Action = (typeof ACTIONS)[number]

/**
 * Outcomes of an action. `begun` is recorded before a change that a service other than identity makes. One
 * of the others follows it: `denied` means that a permission was missing, `failed` that the action was
 * refused for another reason, `unknown` that the connection was lost and the change may have happened.
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

/** Hash before the first entry. */
export const GENESIS = Buffer.alloc(32)

/**
 * The hash of an entry: SHA-256 over the 32 bytes of the hash before it, then the UTF-8 of this JSON
 * array without blanks: number, time, subject, issuer, key prefix, request id, action, object,
 * outcome, detail (as a string).
 */
export function hashEntry(previous: Uint8Array, entry: HashedEntry): Buffer {
  return createHash('sha256').update(previous).update(canonicalTextOf(entry), 'utf8').digest()
}

/** Number and hash of an entry. Noted elsewhere, it proves every entry up to it. */
export interface Head {
  seq: number
  hash: Buffer
}

export type ChainedEntry = HashedEntry & { previous_hash: Buffer; hash: Buffer }

const toHex = ({ seq, hash }: Head): HexHead => ({ seq, hash: hash.toString('hex') })

/** Verifies a chain entry by entry, from the first, and collects its problems. */
export class AuditChainVerifier {
  readonly #links: ChainLinks

  /** `start` is the last entry of a verified part, from which the entries continue. */
  constructor(
    remembered?: Head,
    start: Head = { seq: 0, hash: GENESIS },
    checkpoints: readonly Checkpoint[] = [],
  ) {
    this.#links = new ChainLinks(remembered && toHex(remembered), toHex(start), checkpoints)
  }

  get problems(): string[] {
    return this.#links.problems
  }

  /** Facts that are no problem, such as a pruned part. */
  get notes(): string[] {
    return this.#links.notes
  }

  /** Number of the last entry before the first one; 0 unless the beginning is missing. */
  get baseSeq(): number {
    return this.#links.baseSeq
  }

  /** The last verified entry. */
  get head(): Head {
    const { seq, hash } = this.#links.head
    return { seq, hash: Buffer.from(hash, 'hex') }
  }

  /** Verifies the next entry. After a break it continues from what the entry itself claims. */
  verifyNext(entry: ChainedEntry): void {
    const { previous_hash, hash } = entry
    this.#links.verifyNext(entry, {
      previous: previous_hash.toString('hex'),
      claimed: hash.toString('hex'),
      actual: hashEntry(previous_hash, entry).toString('hex'),
    })
  }

  /** Verifies that the chain reaches the head that the log claims, the head that was noted, and all checkpoints. */
  verifyEnd(claimed: Head, options?: { isPart?: boolean }): void {
    this.#links.verifyEnd(toHex(claimed), options)
  }
}
