import { conflict, invalid, unprocessable } from '@windlass/runtime/faults'

const NAME = /^[A-Za-z0-9._-]{1,128}$/
const TEXT = /^[^\p{Cc}\p{Cs}]{1,255}$/u
/** The characters of workflow names, task names and ids; blanks only between others. */
const SEGMENT = '[\\p{L}\\p{M}\\p{N}._*{}-]+(?: +[\\p{L}\\p{M}\\p{N}._*{}-]+)*'
/** A kind of resource, then segments. */
const PERMISSION = new RegExp(`^[A-Za-z0-9_*{}-]+(?::${SEGMENT})*$`, 'u')
/** Resources that are named by an id, with or without dashes. */
const HEX = '[0-9A-Fa-f]'
const BY_ID = new RegExp(
  `^(?:execution|schedule):(?:${HEX}{32}|${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12})(?=:|$)`,
)
const MAX_PERMISSION_CHARS = 512
const MAX_PERMISSIONS = 1_000
const BUILT_IN = ['admin', 'operator', 'viewer', 'worker']
const TYPES = ['user', 'service_account']

/** Refusal of a member of the body; says what the member must be. */
export const invalidMember = (member: string, msg: string) =>
  unprocessable({ loc: ['body', member], msg, type: 'value_error' })

/** Name of a role or key. Throws `unprocessable` with the member. */
export function parseName(member: string, name: string): string {
  if (!NAME.test(name) || name === '.' || name === '..')
    throw invalidMember(member, 'must be 1 to 128 letters, digits, dots, underscores or hyphens')
  return name
}

/** Name of a new role. Rejects names that differ from a built-in role only in case. */
export function parseNewRoleName(member: string, name: string): string {
  const lower = name.toLowerCase()
  if (lower !== name && BUILT_IN.includes(lower))
    throw invalidMember(member, `looks like '${lower}'`)
  return parseName(member, name)
}

/** Subject, issuer or display name, unchanged. Throws `unprocessable` with the member. */
export function parsePrintable(member: string, text: string): string {
  if (!TEXT.test(text))
    throw invalidMember(member, 'must be 1 to 255 characters without control characters')
  return text
}

/** Display name in NFC. */
export const parseDisplayName = (text: string) =>
  parsePrintable('display_name', text.normalize('NFC'))

export function parseType(type: string): string {
  if (!TYPES.includes(type)) throw invalidMember('type', "must be 'user' or 'service_account'")
  return type
}

/**
 * Returns distinct permissions in their order and normal form. Throws `invalid` for a malformed one,
 * `conflict` above the limit.
 */
export function parsePermissions(texts: readonly string[]): string[] {
  for (const text of texts)
    if (text.length > MAX_PERMISSION_CHARS || !PERMISSION.test(text))
      throw invalid(`Invalid permission format: '${escapeText(text.slice(0, 100))}'`)
  const permissions = [...new Set(texts.map(normalizePermission))]
  if (permissions.length > MAX_PERMISSIONS)
    throw conflict(`a role may have at most ${MAX_PERMISSIONS} permissions`)
  return permissions
}

/** Ids are compared without dashes and in lower case. */
const normalizePermission = (permission: string) =>
  permission.normalize('NFC').replace(BY_ID, (named) => named.toLowerCase().replaceAll('-', ''))

interface PermissionChange {
  add: readonly string[]
  remove: readonly string[]
}

/** Permissions of a role after additions, then removals; the others keep their order. */
export function applyChange(
  permissions: readonly string[],
  { add, remove }: PermissionChange,
): string[] {
  const removed = new Set(parsePermissions(remove))
  return parsePermissions([...permissions, ...add]).filter((permission) => !removed.has(permission))
}

/** Escapes control characters, line breaks included. */
const escapeText = (text: string) => JSON.stringify(text).slice(1, -1)
