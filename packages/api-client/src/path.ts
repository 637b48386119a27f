import { ArgumentError } from './errors.ts'

const MAX_SHOWN_CHARS = 100

/**
 * Part of a path that was checked against its grammar. `parse` is the only constructor, so no path is
 * built from unchecked text.
 */
export class PathSegment {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  /** Parses a name, which is compared in its NFC form. */
  static parse(what: string, form: RegExp, text: string): PathSegment {
    return PathSegment.parseExact(what, form, text.normalize('NFC'))
  }

  /** Parses a name that is compared byte for byte. */
  static parseExact(what: string, form: RegExp, name: string): PathSegment {
    if (name === '.' || name === '..' || !form.test(name))
      throw new ArgumentError(`Invalid ${what} '${name.slice(0, MAX_SHOWN_CHARS)}'`)
    return new PathSegment(name)
  }

  get encoded(): string {
    return encodeURIComponent(this.#text)
  }
}

const NAMESPACE = /^[a-z0-9][a-z0-9_-]{0,63}$/
const WORKFLOW = /^[\p{L}\p{M}\p{N}._ -]{1,128}$/u
const PLAIN = /^[A-Za-z0-9._-]{1,128}$/
const NAME = /^[^/\p{C}]{1,255}$/u
const ID = /^[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}$/
/** Narrower than the grammar of names; a schedule whose name has one of these characters is reached by its id. */
const SCHEDULE = /^[^\p{C}\p{Zl}\p{Zp}/\\%?#]{1,255}$/u

export const toNamespace = (text: string) =>
  PathSegment.parse('workflow namespace', NAMESPACE, text)
export const toWorkflowName = (text: string) => PathSegment.parse('workflow name', WORKFLOW, text)
export const toWorkerTokenName = (text: string) =>
  PathSegment.parse('worker token name', PLAIN, text)
export const toWorkerName = (text: string) => PathSegment.parse('worker name', PLAIN, text)

/** A text that is a name but not an id is reported as an unknown execution, in the text of the contract. */
export function toExecutionId(text: string): PathSegment {
  if (PLAIN.test(text) && !ID.test(text) && !/^\.+$/.test(text))
    throw new ArgumentError(`Execution '${text}' not found`)
  return PathSegment.parse('execution id', ID, text)
}

/** The id of a call of a task, which may contain any printable character. */
export const toCallId = (text: string) =>
  PathSegment.parseExact('id of a call', /^[^\p{Cc}\p{Cs}]{1,256}$/u, text)
/** The subject of a principal, as its issuer chose it. */
export const toSubject = (text: string) =>
  PathSegment.parseExact('subject of a principal', /^[^\p{Cc}\p{Cs}]{1,255}$/u, text)
export const toRoleName = (text: string) => PathSegment.parse('role name', PLAIN, text)
export const toKeyName = (text: string) => PathSegment.parse('key name', PLAIN, text)
export const toSecretName = (text: string) => PathSegment.parse('secret name', NAME, text)
export const toConfigName = (text: string) => PathSegment.parse('config name', NAME, text)
export const toViewName = (text: string) => PathSegment.parse('view name', NAME, text)
export const toScheduleRef = (text: string) => PathSegment.parse('schedule id', SCHEDULE, text)

/** Builds a path of constant text and checked, percent-encoded segments. */
export const path = (constants: TemplateStringsArray, ...segments: PathSegment[]): string =>
  constants.reduce((text, constant, i) => `${text}${segments[i - 1]?.encoded ?? ''}${constant}`)
