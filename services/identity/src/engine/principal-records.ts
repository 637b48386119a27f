import { objects } from '@windlass/domain/audit'
import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import type {
  Account,
  CreatePrincipalRequest,
  Principal,
  PrincipalRef,
} from '@windlass/proto/windlass/identity/v1/principals'
import { conflict, invalid, notFound } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { parseDisplayName, parsePrintable, parseType } from '../domain/grants.ts'
import * as principals from '../store/principals.ts'
import * as roles from '../store/roles.ts'

/** Object of an audit entry about a principal. */
export const auditName = ({ subject, external_issuer }: PrincipalRef) =>
  objects.principal(subject, external_issuer)

/**
 * Creates a principal with its roles. Throws `unprocessable` for a malformed member, `conflict` for a
 * subject that is taken at its issuer and for a name of the audit log that is taken, `not_found` for an unknown role.
 */
export async function createPrincipal(
  tx: Tx,
  request: CreatePrincipalRequest & { created_by: string },
): Promise<Principal> {
  const id = newId()
  const ref = normalizeRef({
    subject: parsePrintable('subject', request.subject),
    external_issuer: parsePrintable('external_issuer', request.external_issuer),
  })
  await requireOwnAuditName(tx, ref)
  const inserted = await principals.insert(tx, {
    id,
    ...ref,
    type: parseType(request.type),
    display_name: request.display_name && parseDisplayName(request.display_name),
  })
  if (inserted === 0)
    throw conflict(`Principal '${ref.subject}' already exists at issuer '${ref.external_issuer}'`)
  await requireRoles(tx, request.roles)
  await principals.grant(tx, id, request.roles, request.created_by)
  return getPrincipal(tx, ref)
}

/**
 * Issuers and subjects may contain slashes, so two principals could have one name in the audit log. The review of
 * anonymous changes (anonymous-review.ts) relies on it: the deletion of one would hide the creation of the other.
 */
async function requireOwnAuditName(tx: Tx, { subject, external_issuer }: PrincipalRef) {
  const name = `${external_issuer}/${subject}`
  await principals.lockAuditName(tx, name)
  const others = [...name.matchAll(/\//g)]
    .map(({ index }) => ({ external_issuer: name.slice(0, index), subject: name.slice(index + 1) }))
    .filter((other) => other.subject !== subject)
  if (others.length > 0 && (await principals.areTaken(tx, others)))
    throw conflict(
      `Principal '${subject}' at issuer '${external_issuer}' would have the same name in the audit log as another`,
    )
}

/** Throws `not_found` for a name that is not a role; the roles stay until the end of the transaction. */
export async function requireRoles(tx: Tx, names: readonly string[]): Promise<void> {
  const known = new Set((await roles.lockNames(tx, names)).map(({ name }) => name))
  const missing = names.find((name) => !known.has(name))
  if (missing !== undefined) throw notFound('Role', missing)
}

/**
 * Returns a reference in the form that is stored and compared: names that are chosen here in NFC, subjects
 * of an issuer byte for byte, because an issuer may distinguish two subjects that have the same NFC form.
 */
export const normalizeRef = ({ subject, external_issuer }: PrincipalRef): PrincipalRef => ({
  subject: external_issuer === INTERNAL_ISSUER ? subject.normalize('NFC') : subject,
  external_issuer,
})

/** Throws `invalid` without a reference, `not_found` for an unknown one. */
export const getPrincipal = (db: Queries, ref: PrincipalRef | undefined): Promise<Principal> =>
  requireRow(ref, (known) => principals.find(db, known))

/** Locks the row until the end of the transaction. Throws like `getPrincipal`. */
export const lockPrincipal = (tx: Tx, ref: PrincipalRef | undefined) =>
  requireRow(ref, (known) => principals.lock(tx, known))

/** The principal with all its permissions. Throws like `getPrincipal`. */
export const getAccount = (db: Queries, ref: PrincipalRef): Promise<Account> =>
  requireRow(ref, async (known) => {
    const principal = await principals.find(db, known)
    return principal && principals.readAccount(db, principal.id)
  })

async function requireRow<T>(
  ref: PrincipalRef | undefined,
  read: (ref: PrincipalRef) => Promise<T | undefined>,
): Promise<T> {
  if (!ref) throw invalid('principal is required')
  const row = await read(normalizeRef(ref))
  if (!row) throw notFound('Principal', ref.subject)
  return row
}
