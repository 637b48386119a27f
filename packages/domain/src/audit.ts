import { createHash } from 'node:crypto'
import { INTERNAL_ISSUER } from './caller.ts'

/** What the audit log calls the changes that it knows. */
export const ACTIONS = [
  'principal.create',
  'principal.update',
  'principal.delete',
  'principal.grant_role',
  'principal.revoke_role',
  'key.create',
  'key.revoke',
  'role.create',
  'role.update',
  'role.delete',
  'secret.put',
  'secret.delete',
  'secret.read',
  'secret.rotate_key',
  'config.put',
  'config.delete',
  'worker.register',
  'workflow.upload',
  'workflow.delete',
  'schedule.create',
  'schedule.update',
  'schedule.pause',
  'schedule.resume',
  'schedule.delete',
  'execution.cancel',
  'approval.approve',
  'approval.reject',
] as const
export type Action = (typeof ACTIONS)[number]

/**
 * `begun` comes before a change whose owner is not the keeper of the log, and is followed by one
 * of the others; `denied` lacked a right, `failed` was refused for another reason, `unknown` broke
 * off, so that it may have happened.
 */
export const OUTCOMES = ['begun', 'done', 'denied', 'failed', 'unknown'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** What an action was done to, in the form in which the log names and finds it. */
export const objects = {
  principal: (subject = '', issuer = INTERNAL_ISSUER) =>
    named('principal', subject && `${issuer}/${subject}`),
  key: (principal: string, name = '') => named(principal.replace(/^principal/, 'key'), name, '/'),
  role: (name = '') => named('role', name),
  secret: (name = '') => named('secret', name),
  config: (name = '') => named('config', name),
  worker: (name = '') => named('worker', name),
  workflow: (namespace = '', name = '') => named('workflow', namespace && `${namespace}/${name}`),
  schedule: (ref = '') => named('schedule', ref),
  execution: (id = '') => named('execution', id),
  approval: (id = '', call = '') => named('approval', id && `${id}/${call}`),
}

const named = (kind: string, name: string, mark = ':') => (name === '' ? kind : kind + mark + name)

const MAX_DETAIL_CHARS = 16_384

/** What else is worth keeping of a change, as JSON text. What is too long is told by its hash. */
export function detailOf(detail: Record<string, unknown> = {}): string {
  const text = JSON.stringify(detail)
  if (text.length <= MAX_DETAIL_CHARS) return text
  const sha256 = createHash('sha256').update(text).digest('hex')
  return JSON.stringify({ omitted_chars: text.length, sha256 })
}

/** One line of the log, as it is hashed. */
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

/** What comes before the first entry. */
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

/** A place in the log, to be remembered elsewhere: what was written up to it cannot change unseen. */
export interface Head {
  seq: number
  hash: Buffer
}

export type ChainedEntry = HashedEntry & { previous_hash: Buffer; hash: Buffer }

/** Follows the chain entry by entry, from the first, and notes what is wrong with it. */
export class AuditChainVerifier {
  readonly problems: string[] = []
  #seq = 0
  #hash: Buffer = GENESIS
  readonly #remembered: Head | undefined

  constructor(remembered?: Head) {
    this.#remembered = remembered
  }

  /** How far it has come. */
  get head(): Head {
    return { seq: this.#seq, hash: this.#hash }
  }

  /** Takes the next one. After a break it goes on from what the entry itself claims. */
  verifyNext(entry: ChainedEntry): void {
    const { seq, previous_hash, hash } = entry
    if (seq > this.#seq + 1) this.#missing(this.#seq + 1, seq - 1)
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
    this.#seq = seq
    this.#hash = hash
  }

  /** Notes what the end lacks: what the log itself says it has, and what was remembered. */
  verifyEnd(claimed: Head): void {
    const last = Math.max(claimed.seq, this.#remembered?.seq ?? 0)
    if (last > this.#seq) this.#missing(this.#seq + 1, last)
    else if (claimed.seq < this.#seq || !claimed.hash.equals(this.#hash))
      this.problems.push('the head of the log is not its last entry')
  }

  #missing(from: number, to: number): void {
    this.problems.push(
      from === to ? `entry ${from} is missing` : `entries ${from} to ${to} are missing`,
    )
  }
}
