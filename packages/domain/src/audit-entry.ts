import { membersOf, stringOf } from '@windlass/runtime/json/json'
import type { HashedEntry } from './audit-chain.ts'

/** An entry of the audit log as the API sends it, in Node and in browsers. */
export interface AuditEntry extends HashedEntry {
  /** Hexadecimal. */
  previous_hash: string
  hash: string
}

/** Parses an entry; its detail stays text, because its text was hashed. */
export function toAuditEntry(json: string): AuditEntry {
  const members = membersOf(json)
  const actor = membersOf(members?.get('actor') ?? '{}')
  const textOf = (name: string) => stringOf(members?.get(name)) ?? ''
  return {
    seq: Number(members?.get('seq')),
    at: textOf('at'),
    subject: stringOf(actor?.get('subject')) ?? '',
    issuer: stringOf(actor?.get('issuer')) ?? '',
    key_prefix: stringOf(actor?.get('key_prefix')) ?? '',
    request_id: textOf('request_id'),
    action: textOf('action'),
    object: textOf('object'),
    outcome: textOf('outcome'),
    detail_json: members?.get('detail') ?? '',
    previous_hash: textOf('previous_hash'),
    hash: textOf('hash'),
  }
}
