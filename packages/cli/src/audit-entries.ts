import { path } from '@windlass/api-client/path'
import { getMembers } from '@windlass/api-client/payload'
import type { ChainedEntry, Head } from '@windlass/domain/audit'
import { elementsOf, membersOf, stringOf } from '@windlass/runtime/json/json'
import type { ApiCall } from './api-call.ts'
import { UsageError } from './command.ts'

/** The largest page of the audit log. */
export const AUDIT_PAGE = 1_000

/** An entry, and the JSON text in which the server sent it. */
export interface AuditLine {
  entry: ChainedEntry
  json: string
}

/** Reads the entries after this number, oldest first, and the head of the log. */
export async function readAuditPage(
  call: ApiCall,
  after: number,
): Promise<{ head: Head; lines: AuditLine[] }> {
  const query = { after: String(after), limit: String(AUDIT_PAGE) }
  const answer = await call({ method: 'GET', path: path`/admin/audit`, query })
  const { entries = '[]', head = '{}' } = getMembers(answer, ['entries', 'head'])
  const lines = (elementsOf(entries) ?? []).map((json) => ({ json, entry: toChainedEntry(json) }))
  return { head: toHead(head), lines }
}

/** Parses `SEQ:HASH`; throws UsageError. */
export function parseCheckpoint(text: string): Head {
  const [, seq, hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? []
  if (seq === undefined)
    throw new UsageError(`'${text}' is not a head; use SEQ:HASH as printed by audit verify`)
  return { seq: Number(seq), hash: Buffer.from(hash, 'hex') }
}

export const formatCheckpoint = ({ seq, hash }: Head) => `${seq}:${hash.toString('hex')}`

const toBytes = (json: string | undefined) => Buffer.from(stringOf(json) ?? '', 'hex')

function toHead(json: string): Head {
  const members = membersOf(json)
  return { seq: Number(members?.get('seq') ?? 0), hash: toBytes(members?.get('hash')) }
}

/** Keeps the detail as text, because its text was hashed. */
export function toChainedEntry(json: string): ChainedEntry {
  const members = membersOf(json) ?? new Map<string, string>()
  const actor = membersOf(members.get('actor') ?? '{}')
  const textOf = (name: string) => stringOf(members.get(name)) ?? ''
  return {
    seq: Number(members.get('seq')),
    at: textOf('at'),
    subject: stringOf(actor?.get('subject')) ?? '',
    issuer: stringOf(actor?.get('issuer')) ?? '',
    key_prefix: stringOf(actor?.get('key_prefix')) ?? '',
    request_id: textOf('request_id'),
    action: textOf('action'),
    object: textOf('object'),
    outcome: textOf('outcome'),
    detail_json: members.get('detail') ?? '',
    previous_hash: toBytes(members.get('previous_hash')),
    hash: toBytes(members.get('hash')),
  }
}
