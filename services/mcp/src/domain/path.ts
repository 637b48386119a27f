import { Refusal } from './refusal.ts'

const MAX_SHOWN_CHARS = 100

/** A part of a path that was checked against its grammar. It cannot be had otherwise, so no path is built from unchecked text. */
export class Segment {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  static of(what: string, form: RegExp, text: string): Segment {
    const name = text.normalize('NFC')
    if (name === '.' || name === '..' || !form.test(name))
      throw new Refusal(`Invalid ${what} '${text.slice(0, MAX_SHOWN_CHARS)}'`)
    return new Segment(name)
  }

  get encoded(): string {
    return encodeURIComponent(this.#text)
  }
}

const NAMESPACE = /^[a-z0-9][a-z0-9_-]{0,63}$/
const WORKFLOW = /^[\p{L}\p{M}\p{N}._ -]{1,128}$/u
const WORKER = /^[A-Za-z0-9._-]{1,128}$/
const ID = /^[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}$/
/** Narrower than the grammar of names: whoever needs one of these signs in a name can use the id. */
const SCHEDULE = /^[^\p{C}\p{Zl}\p{Zp}/\\%?#]{1,255}$/u

export const namespace = (text: string) => Segment.of('workflow namespace', NAMESPACE, text)
export const workflowName = (text: string) => Segment.of('workflow name', WORKFLOW, text)
export const workerName = (text: string) => Segment.of('worker name', WORKER, text)

/** What may be a name but is no id names no execution, in the words that clients know. */
export function executionId(text: string): Segment {
  if (WORKER.test(text) && !ID.test(text) && !/^\.+$/.test(text))
    throw new Refusal(`Execution '${text}' not found`)
  return Segment.of('execution id', ID, text)
}
export const scheduleRef = (text: string) => Segment.of('schedule id', SCHEDULE, text)

/** A path of constant text and checked segments. */
export const path = (constants: TemplateStringsArray, ...segments: Segment[]): string =>
  constants.reduce((text, constant, i) => `${text}${segments[i - 1]?.encoded ?? ''}${constant}`)
