import { type Option, optionFault, requireConstant } from './option.ts'

const NAMESPACE = /^[a-z0-9][a-z0-9_-]{0,63}$/
/** Letters and digits of any script, with their combining marks. */
const WORKFLOW_NAME = /^[\p{L}\p{M}\p{N}._-]([\p{L}\p{M}\p{N} ._-]*[\p{L}\p{M}\p{N}._-])?$/u
const MAX_NAME_CHARS = 128
const SECRET_NAME = /^[^/\p{C}]{1,255}$/u
const PERMISSION_PART = '[^:\\p{C}\\s][^:\\p{C}]*'
const PERMISSION = new RegExp(`^${PERMISSION_PART}(:${PERMISSION_PART})*$`, 'u')
const MAX_PERMISSION_CHARS = 512

type OptionRef = Pick<Option, 'owner' | 'name'>

/** Returns the value of a name option; undefined selects the default. */
export function readNameOption(option: Option | undefined): string | undefined {
  if (!option) return undefined
  const value = requireConstant(option)
  if (value === null || value === '') return undefined
  if (typeof value !== 'string') throw optionFault(option, 'it must be a string')
  return value.normalize('NFC')
}

export function checkNamespace(option: OptionRef, namespace: string): string {
  if (!NAMESPACE.test(namespace)) {
    throw optionFault(
      option,
      `'${shorten(namespace)}' is not 1 to 64 of lower-case letters, digits, _ and -, the first a letter or digit`,
    )
  }
  return namespace
}

export function checkWorkflowName(option: OptionRef, name: string): string {
  const reserved = name === '.' || name === '..'
  if (reserved || [...name].length > MAX_NAME_CHARS || !WORKFLOW_NAME.test(name)) {
    throw optionFault(
      option,
      `'${shorten(name)}' is not 1 to ${MAX_NAME_CHARS} of letters, digits, blanks, '.', '_' and '-'`,
    )
  }
  return name
}

/** Checks the entries of `secret_requests`. */
export function checkSecretNames(option: OptionRef, names: string[]): string[] {
  for (const name of names) {
    if (!SECRET_NAME.test(name) || name === '.' || name === '..') {
      throw optionFault(option, `'${shorten(name)}' is not the name of a secret`)
    }
  }
  return names.map((name) => name.normalize('NFC'))
}

/** Checks the entries of `required_permissions`. */
export function checkPermissions(option: OptionRef, permissions: string[]): string[] {
  for (const permission of permissions) {
    if (!PERMISSION.test(permission) || permission.length > MAX_PERMISSION_CHARS) {
      throw optionFault(option, `'${shorten(permission)}' is not a permission`)
    }
  }
  return permissions.map((permission) => permission.normalize('NFC'))
}

const SHOWN_CHARS = 60

/** Shortens a value for a message and replaces invisible characters. */
const shorten = (name: string) => {
  const plain = name.replace(/\p{C}/gu, '?')
  return plain.length > SHOWN_CHARS ? `${plain.slice(0, SHOWN_CHARS)}…` : plain
}
