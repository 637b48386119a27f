import { conflict, invalid, unprocessable } from '@windlass/runtime/faults'

const NAME = /^[A-Za-z0-9._-]{1,128}$/
const TEXT = /^[^\p{Cc}\p{Cs}]{1,255}$/u
/** A kind of resource, then whatever a workflow, its tasks or an id may be called, but blanks. */
const PERMISSION = /^[A-Za-z0-9_*{}-]+(?::[\p{L}\p{M}\p{N}._*{}-]+)*$/u
/** What is named by an id, in one of its forms. */
const HEX = '[0-9A-Fa-f]'
const BY_ID = new RegExp(
  `^(?:execution|schedule):(?:${HEX}{32}|${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12})(?=:|$)`,
)
const MAX_PERMISSION_CHARS = 512
const MAX_PERMISSIONS = 1_000
const MAX_DAYS = 36_500
const BUILT_IN = ['admin', 'operator', 'viewer', 'worker']
const TYPES = ['user', 'service_account']

const refused = (member: string, msg: string) =>
  unprocessable({ loc: ['body', member], msg, type: 'value_error' })

/** The name of a role or key. Throws `unprocessable`, which says of which member. */
export function nameIn(member: string, name: string): string {
  if (!NAME.test(name) || name === '.' || name === '..')
    throw refused(member, 'must be 1 to 128 letters, digits, dots, underscores or hyphens')
  return name
}

/** The name of a role that is to be made; not one that people would take for a built-in role. */
export function newRoleIn(member: string, name: string): string {
  const lower = name.toLowerCase()
  if (lower !== name && BUILT_IN.includes(lower)) throw refused(member, `looks like '${lower}'`)
  return nameIn(member, name)
}

/** Subjects, issuers and display names: whatever their makers chose. */
export function textIn(member: string, text: string): string {
  const normal = text.normalize('NFC')
  if (!TEXT.test(normal))
    throw refused(member, 'must be 1 to 255 characters without control characters')
  return normal
}

export function typeOf(type: string): string {
  if (!TYPES.includes(type)) throw refused('type', "must be 'user' or 'service_account'")
  return type
}

/** How many days a key is good for; 0 for ever. */
export function daysOf(days: number): number {
  if (days > MAX_DAYS) throw refused('expires_in_days', `must be ${MAX_DAYS} or less`)
  return days
}

/** Each once, in their order and in the form that is compared. Throws `invalid` for a text that is no permission, `conflict` for too many. */
export function permissionsOf(texts: readonly string[]): string[] {
  for (const text of texts)
    if (text.length > MAX_PERMISSION_CHARS || !PERMISSION.test(text))
      throw invalid(`Invalid permission format: '${escaped(text.slice(0, 100))}'`)
  const permissions = [...new Set(texts.map(compared))]
  if (permissions.length > MAX_PERMISSIONS)
    throw conflict(`a role may have at most ${MAX_PERMISSIONS} permissions`)
  return permissions
}

/** Ids are compared without dashes and in small letters. */
const compared = (permission: string) =>
  permission.normalize('NFC').replace(BY_ID, (named) => named.toLowerCase().replaceAll('-', ''))

interface Change {
  add: readonly string[]
  remove: readonly string[]
}

/** What a role has when some are added, then some removed; the order of the rest stays. */
export function changed(permissions: readonly string[], { add, remove }: Change): string[] {
  const gone = new Set(permissionsOf(remove))
  return permissionsOf([...permissions, ...add]).filter((permission) => !gone.has(permission))
}

/** Without line breaks and other control characters, which have no place in a message. */
const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
