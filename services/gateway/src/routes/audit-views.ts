import { OUTCOMES } from '@windlass/domain/audit'
import { CHECKPOINT_REASONS, parseCheckpointToken } from '@windlass/domain/audit-checkpoint'
import type {
  AuditCheckpoint,
  AuditEntry,
  AuditKey,
} from '@windlass/proto/windlass/identity/v1/audit'
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

const KeyId = z.string().regex(/^[A-Za-z0-9_-]{43}$/)

/** The content of the token; `null` where it cannot be parsed. */
export const CheckpointView = z
  .object({
    seq: z.int(),
    hash: Hash.nullable(),
    at: z.iso.datetime().nullable(),
    entries: z.int().nullable(),
    reason: z.enum(CHECKPOINT_REASONS),
    key_id: KeyId,
    token: z.string(),
  })
  .meta({ id: 'AuditCheckpoint' })

export function checkpointView({ seq, reason, key_id, token }: AuditCheckpoint) {
  const { hash = null, at = null, entries = null } = parseCheckpointToken(token) ?? {}
  return { seq, hash, at, entries, reason: reason as 'interval' | 'prune', key_id, token }
}

/** A JWK (RFC 8037) with the time of its creation, and whether identity has the private part. */
export const KeyView = z
  .object({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    alg: z.literal('EdDSA'),
    use: z.literal('sig'),
    kid: KeyId,
    x: z.string(),
    created_at: z.iso.datetime(),
    confirmed: z.boolean(),
  })
  .meta({ id: 'AuditKey' })

export const keyView = ({ key_id, public_key, created_at, confirmed }: AuditKey) => ({
  ...({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' } as const),
  ...{ kid: key_id, x: public_key, created_at: created_at?.toISOString() ?? '', confirmed },
})
