import type { HashedEntry } from '@windlass/domain/audit-chain'
import { elementsOf, membersOf, stringOf } from '@windlass/runtime/json/json'

/** An entry of the audit log; `detail_json` is the text that was hashed. */
export interface AuditEntry extends HashedEntry {
  /** Hexadecimal. */
  previous_hash: string
  hash: string
}

/** Entries of a page, which is a JSON array; their details stay text. */
export const toEntries = (page: string): AuditEntry[] => (elementsOf(page) ?? []).map(toEntry)

function toEntry(json: string): AuditEntry {
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
