import { OUTCOMES } from '@windlass/domain/audit'
import type { AuditEntry } from '@windlass/proto/windlass/identity/v1/audit'
import { quote } from '@windlass/runtime/json/json'
import { z } from 'zod'

export const hex = (bytes: Buffer) => bytes.toString('hex')
export const Hash = z.string().regex(/^[0-9a-f]{64}$/)

export const EntryView = z
  .object({
    seq: z.int(),
    at: z.iso.datetime(),
    actor: z.object({ subject: z.string(), issuer: z.string(), key_prefix: z.string() }),
    request_id: z.string(),
    action: z.string(),
    object: z.string(),
    outcome: z.enum(OUTCOMES),
    detail: z.record(z.string(), z.unknown()),
    previous_hash: Hash,
    hash: Hash,
  })
  .meta({ id: 'AuditEntry' })

/** Splices the detail unchanged, because its text was hashed. */
export function viewOf({ seq, at, draft, previous_hash, hash }: AuditEntry): string {
  const { by, action = '', object = '', outcome = '', detail_json = '{}' } = draft ?? {}
  const { subject = '', issuer = '', key_prefix = '', request_id = '' } = by ?? {}
  const members = {
    seq: String(seq),
    at: quote(at?.toISOString() ?? ''),
    actor: JSON.stringify({ subject, issuer, key_prefix }),
    request_id: quote(request_id),
    action: quote(action),
    object: quote(object),
    outcome: quote(outcome),
    detail: detail_json,
    previous_hash: quote(hex(previous_hash)),
    hash: quote(hex(hash)),
  }
  return `{${Object.entries(members).map(([name, json]) => `"${name}":${json}`)}}`
}
