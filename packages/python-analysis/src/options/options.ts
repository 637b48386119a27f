import type { Declaration } from '../declaration.ts'
import { unwrap } from '../python/expression.ts'
import { checkPermissions, checkSecretNames } from './names.ts'
import { type Option, optionFault, requireConstant, requireText, requireTexts } from './option.ts'
import { checkOptionNames } from './option-names.ts'

/** Options of one workflow or task, by name. */
export interface Options {
  owner: string
  get(name: string): Option | undefined
}

/**
 * Returns the options of a declaration. Throws for options that are unpacked or positional: which
 * names they set is unknown. Throws for names that the SDK does not have.
 */
export function optionsOf(declaration: Declaration): Options {
  const { kind, definition, options } = declaration
  const line = definition.node.startPosition.row + 1
  const owner = `${kind} '${definition.name}' in line ${line}`
  if (options.isIncomplete)
    throw optionFault({ owner, name: 'options' }, 'they must be written out')
  if (options.positional.length > 0) {
    throw optionFault({ owner, name: 'options' }, 'they are given by name')
  }
  checkOptionNames(declaration)
  return {
    owner,
    get(name) {
      const value = options.keywords.get(name)
      return value && { owner, name, value }
    },
  }
}

/** Returns the secrets that a workflow or task requests. */
export function readSecretNames(options: Options): string[] {
  const option = options.get('secret_requests')
  return option && !isNone(option) ? checkSecretNames(option, requireTexts(option)) : []
}

/** Returns the permissions that running it requires. */
export function readPermissions(options: Options): string[] {
  const option = options.get('required_permissions')
  return option && !isNone(option) ? checkPermissions(option, requireTexts(option)) : []
}

/** Returns one of the allowed strings; undefined if absent or None. */
export function readChoice(
  options: Options,
  name: string,
  allowed: readonly string[],
): string | undefined {
  const option = options.get(name)
  if (!option || isNone(option)) return undefined
  const value = requireText(option)
  if (!allowed.includes(value)) throw optionFault(option, `it must be one of ${allowed.join(', ')}`)
  return value
}

/** Returns seconds above 0; undefined if absent or None. */
export function readSeconds(options: Options, name: string): number | undefined {
  const option = options.get(name)
  if (!option || isNone(option)) return undefined
  const value = requireConstant(option)
  if (typeof value !== 'number' || value <= 0)
    throw optionFault(option, 'it must be seconds above 0')
  return value
}

/** Returns a whole number from 0 to `max`; undefined if absent or None. */
export function readWhole(options: Options, name: string, max: number): number | undefined {
  const option = options.get(name)
  if (!option || isNone(option)) return undefined
  const value = requireConstant(option)
  // The SDK refuses 5.0, which is the same number here.
  const isFloat = unwrap(option.value).node.type === 'float'
  if (typeof value !== 'number' || isFloat || !Number.isInteger(value) || value < 0 || value > max)
    throw optionFault(option, `it must be a whole number from 0 to ${max}`)
  return value
}

/** Returns a flag that must be known without running the source; false if absent. */
export function readFlag(options: Options, name: string): boolean {
  const option = options.get(name)
  if (!option) return false
  const value = requireConstant(option)
  if (typeof value !== 'boolean') throw optionFault(option, 'it must be True or False')
  return value
}

const isNone = (option: Option): boolean => requireConstant(option) === null
