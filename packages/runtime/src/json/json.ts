/**
 * JSON (RFC 8259) as text: checked and sliced, never rebuilt, so that 2^53+1, key order, duplicate keys,
 * lone surrogates and `__proto__` arrive as they were sent. Nothing here creates values.
 */

/**
 * Position and reason of refused JSON: `too_deep` and `too_many` exceed a limit, `malformed` violates
 * the grammar.
 */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly offset: number
  readonly reason: 'malformed' | 'too_deep' | 'too_many'

  constructor(message: string, offset: number, reason: JsonError['reason'] = 'malformed') {
    super(message)
    this.offset = offset
    this.reason = reason
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d

const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/**
 * Passes if `text` is one JSON value nested at most `maxDepth` deep, with at most `maxValues` elements
 * and members; throws JsonError otherwise. Takes linear time and no recursion. The number of values
 * bounds the time and memory of `JSON.parse`, which the size alone does not: a mebibyte of `[],` is a
 * third of a million objects.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a scanner is one state machine, clearer in one piece.
export function checkJson(
  text: string,
  maxDepth: number,
  maxValues = Number.POSITIVE_INFINITY,
): void {
  // One entry for each open container: true for an object.
  const open: boolean[] = []
  let at = skipBlank(text, 0)
  let values = 0
  for (;;) {
    const depth = open.length
    at = value(text, at, open, maxDepth)
    values += 1 + open.length - depth
    if (values > maxValues) throw new JsonError(`more than ${maxValues} values`, at, 'too_many')
    // A value has ended, or a container was opened that is not empty.
    for (;;) {
      const inObject = open.at(-1)
      if (inObject === undefined) {
        end(text, at)
        return
      }
      at = skipBlank(text, at)
      const code = text.charCodeAt(at)
      if (code === COMMA) {
        at = skipBlank(text, at + 1)
        if (inObject) at = key(text, at)
        break
      }
      if (code !== (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) throw unexpected(text, at)
      open.pop()
      at++
    }
  }
}

/** Reads up to the end of a scalar or an empty container, going down into the first member of others. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a scanner is one state machine, clearer in one piece.
function value(text: string, start: number, open: boolean[], maxDepth: number): number {
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return string(text, at)
    if (code !== OPEN_OBJECT && code !== OPEN_ARRAY) return literal(text, at)
    if (open.length >= maxDepth)
      throw new JsonError(`nested deeper than ${maxDepth} levels`, at, 'too_deep')
    const isObject = code === OPEN_OBJECT
    at = skipBlank(text, at + 1)
    if (text.charCodeAt(at) === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) return at + 1
    open.push(isObject)
    if (isObject) at = key(text, at)
  }
}

function key(text: string, at: number): number {
  if (text.charCodeAt(at) !== QUOTE) throw unexpected(text, at)
  const colon = skipBlank(text, string(text, at))
  if (text.charCodeAt(colon) !== COLON) throw unexpected(text, colon)
  return skipBlank(text, colon + 1)
}

function string(text: string, start: number): number {
  for (let at = start + 1; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code < 0x20) throw new JsonError('a control character in a string must be escaped', at)
    if (code === BACKSLASH) {
      ESCAPE.lastIndex = at
      if (!ESCAPE.test(text)) throw unexpected(text, at)
      at = ESCAPE.lastIndex
    } else at++
  }
  throw unexpected(text, text.length)
}

function literal(text: string, at: number): number {
  LITERAL.lastIndex = at
  if (!LITERAL.test(text)) throw unexpected(text, at)
  return LITERAL.lastIndex
}

function end(text: string, at: number): void {
  const rest = skipBlank(text, at)
  if (rest < text.length) throw unexpected(text, rest)
}

/** Past blanks. */
export function skipBlank(text: string, start: number): number {
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at++
  }
}

const unexpected = (text: string, at: number) =>
  at < text.length
    ? new JsonError(`unexpected character at offset ${at}`, at)
    : new JsonError('unexpected end of the text', at)

/**
 * The raw text of each member of a checked object, or undefined if the text is none. Of equal names
 * the last counts; `repeated` is called with each repeated name.
 */
export function membersOf(
  text: string,
  repeated?: (name: string) => void,
): Map<string, string> | undefined {
  let at = skipBlank(text, 0)
  if (text.charCodeAt(at) !== OPEN_OBJECT) return undefined
  const members = new Map<string, string>()
  at = skipBlank(text, at + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = skipString(text, at)
    const name = JSON.parse(text.slice(at, keyEnd)) as string
    const start = skipBlank(text, skipBlank(text, keyEnd) + 1)
    const stop = skipValue(text, start)
    if (repeated && members.has(name)) repeated(name)
    members.set(name, text.slice(start, stop))
    at = skipBlank(text, stop)
    if (text.charCodeAt(at) === COMMA) at = skipBlank(text, at + 1)
  }
  return members
}

/** The raw text of each element of a checked array, or undefined if the text is none. */
export function elementsOf(text: string): string[] | undefined {
  let at = skipBlank(text, 0)
  if (text.charCodeAt(at) !== OPEN_ARRAY) return undefined
  const elements: string[] = []
  at = skipBlank(text, at + 1)
  while (at < text.length && text.charCodeAt(at) !== CLOSE_ARRAY) {
    const stop = skipValue(text, at)
    elements.push(text.slice(at, stop))
    at = skipBlank(text, stop)
    if (text.charCodeAt(at) === COMMA) at = skipBlank(text, at + 1)
  }
  return elements
}

/** The value of a checked string, or undefined if the text is none. */
export function stringOf(text: string | undefined): string | undefined {
  return text?.charCodeAt(0) === QUOTE ? (JSON.parse(text) as string) : undefined
}

/** Past the string of a checked text that begins here. */
export function skipString(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    at += code === BACKSLASH ? 2 : 1
  }
}

/** Past the value of a checked text that begins here. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a scanner is one state machine, clearer in one piece.
export function skipValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; ; ) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = skipString(text, at)
    else {
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--
      else if (depth === 0) return literal(text, at)
      at++
    }
    if (depth === 0) return at
  }
}

/** Text in the form that `JSON.stringify` gives it; for names and ids, never for payloads. */
export const quote = (text: string): string => JSON.stringify(text)
