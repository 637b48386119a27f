import { nesting, type ScriptToken, scriptTokens } from './script-tokens.ts'
import type { TextKind } from './word-list.ts'

/** `text` begins at offset `at` of its file and has the length it has there. */
export interface Text {
  kind: TextKind
  text: string
  at: number
}

/** Stands for the end of the file. */
const END: ScriptToken = { type: 'punct', text: '', at: 0 }

const TESTS = new Set(['test', 'it', 'describe', 'suite'])
const SINGLE_TESTS = new Set(['test', 'it'])
const LOG_METHODS = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
/** Functions that build or throw a Fault, and that print for the user of a command. */
const FAULTS = new Set(
  'notFound conflict invalid unavailable unprocessable forbidden refuse refusal fail out'.split(
    ' ',
  ),
)
/** Members whose text becomes part of a document: OpenAPI, the tools of MCP, usage texts. */
const DESCRIPTIONS = new Set(['summary', 'description'])
/** Members of an error or of a part of one. */
const ERROR_TEXTS = new Set(['msg', 'message', 'detail'])
/** A string of a test file that begins with the id of an invariant, or is that of a negative case, titles a row. */
const ROW_TITLE =
  /^['"`](?:(?:N\d{3}|[A-Z][1-9]\d?)(?:(?:, | to )(?:N\d{3}|[A-Z][1-9]\d?))*(?::? |-)|N\d{3}['"`]$)/

/** Blanks the quotes and the escapes of a literal; offsets stay. */
const literalText = (text: string) =>
  text
    .replace(/^[`}'"]|(?:\$\{|[`'"])$/g, (quote) => ' '.repeat(quote.length))
    .replace(/\\[nrt]/g, '  ')

const isLiteral = (token: ScriptToken | undefined) =>
  token?.type === 'string' || token?.type === 'template'

/** True if the word at `i` is the callee of an error, a fault, a log method or a stream of the process. */
function buildsMessage(tokens: ScriptToken[], i: number): boolean {
  const { type, text } = tokens[i] ?? END
  if (type !== 'word' || tokens[i + 1]?.text !== '(') return false
  const before = tokens[i - 1]?.text
  if (before === 'function') return false
  if (before !== '.') return FAULTS.has(text) || /(?:Error|Fault)$/.test(text)
  const object = (tokens[i - 2]?.text ?? '').replace(/^#/, '')
  if (text === 'write') return object === 'stdout' || object === 'stderr'
  if (LOG_METHODS.has(text)) return /^(?:log|logger|console)$/i.test(object)
  return text === 'refine' || text === 'describe' || text === 'out'
}

/** True if the literal at `i` is the first of a row, `['…', …]`, in a table of cases. */
const beginsRow = (tokens: ScriptToken[], i: number) =>
  tokens[i - 1]?.text === '[' &&
  [',', '[', '(', '>'].includes(tokens[i - 2]?.text ?? '') &&
  tokens[i + 1]?.text === ',' &&
  /^['`][a-z][^'`]* /i.test(tokens[i]?.text ?? '')

/** Index after the bracket that closes the one at `open`. */
function afterClosing(tokens: ScriptToken[], open: number): number {
  let depth = 0
  for (let i = open; i < tokens.length; i++) {
    depth += nesting(tokens[i] ?? END)
    if (depth === 0) return i + 1
  }
  return tokens.length
}

/** Index after the modifiers of a test call whose name is at `i`: `.only`, `.each(rows)`, `.for<Row>(rows)`. */
function afterModifiers(tokens: ScriptToken[], i: number): number {
  let next = i + 1
  while (tokens[next]?.text === '.') {
    const takesArguments = /^(?:each|for|skipIf|runIf)$/.test(tokens[next + 1]?.text ?? '')
    next += 2
    if (!takesArguments) continue
    while (next < tokens.length && tokens[next]?.text !== '(') next++
    next = afterClosing(tokens, next)
  }
  return next
}

/** Index of the first argument of a test call whose name is at `i`, or undefined. */
function titleOfTest(tokens: ScriptToken[], i: number): number | undefined {
  const { type, text } = tokens[i] ?? END
  if (!TESTS.has(text) || type !== 'word') return undefined
  if (tokens[i - 1]?.text === '.' || tokens[i - 1]?.text === 'function') return undefined
  const open = afterModifiers(tokens, i)
  return tokens[open]?.text === '(' ? open + 1 : undefined
}

/** Kind of the title of the call at `i`: `test` if it is that of one test and a single literal. */
function kindOfTitle(tokens: ScriptToken[], i: number, title: number): TextKind {
  const isSingle = isLiteral(tokens[title]) && tokens[title + 1]?.text === ','
  return isSingle && SINGLE_TESTS.has(tokens[i]?.text ?? '') ? 'test' : 'title'
}

/** Yields the indexes of an expression that begins at `i` and ends at the next comma or closing bracket of its level. */
function* expressionAt(tokens: ScriptToken[], i: number): Generator<number> {
  let depth = 0
  for (let at = i; at < tokens.length; at++) {
    const token = tokens[at] ?? END
    depth += nesting(token)
    if (depth < 0 || (depth === 0 && token.text === ',')) return
    yield at
  }
}

/** True if the literal at `i` titles a case of a table. */
const titlesRow = (tokens: ScriptToken[], i: number) =>
  isLiteral(tokens[i]) && (ROW_TITLE.test(tokens[i]?.text ?? '') || beginsRow(tokens, i))

/** Kind of the text of a member, or undefined if its value is no text for readers. */
function memberKind({ text }: ScriptToken): TextKind | undefined {
  if (DESCRIPTIONS.has(text)) return 'document'
  return ERROR_TEXTS.has(text) ? 'message' : undefined
}

const indexes = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

/** Marks each literal that is a title or a message: index of the token to kind. */
function markLiterals(tokens: ScriptToken[], isTest: boolean): Map<number, TextKind> {
  const kinds = new Map<number, TextKind>()
  const mark = (candidates: Iterable<number>, kind: TextKind | undefined) => {
    if (!kind) return
    for (const i of candidates) if (isLiteral(tokens[i]) && !kinds.has(i)) kinds.set(i, kind)
  }
  for (const [i, token] of tokens.entries()) {
    const title = titleOfTest(tokens, i)
    if (title !== undefined) mark(expressionAt(tokens, title), kindOfTitle(tokens, i, title))
    else if (isTest && titlesRow(tokens, i)) mark([i], 'title')
    else if (buildsMessage(tokens, i)) mark(indexes(i, afterClosing(tokens, i + 1)), 'message')
    else if (tokens[i + 1]?.text === ':' && !'{['.includes(tokens[i + 2]?.text ?? ' '))
      mark(expressionAt(tokens, i + 2), memberKind(token))
  }
  return kinds
}

/**
 * Texts of a TypeScript or JavaScript file. Comments that follow one another make one text, so
 * that a phrase over two lines is found.
 */
export function scriptTexts(source: string, isTest: boolean): Text[] {
  const all = scriptTokens(source)
  const tokens = all.filter(({ type }) => type !== 'comment')
  const kinds = markLiterals(tokens, isTest)
  const literals = tokens.flatMap(({ text, at }, i) => {
    const kind = kinds.get(i)
    return kind ? [{ kind, text: literalText(text), at }] : []
  })
  return [...commentTexts(source, all), ...literals, codeText(source, all)]
}

/** Source in which all but code is blank. */
function codeText(source: string, tokens: ScriptToken[]): Text {
  const parts: string[] = []
  let end = 0
  for (const { type, text, at } of tokens) {
    if (type === 'word' || type === 'punct' || type === 'number') continue
    parts.push(source.slice(end, at), text.replace(/[^\n]/g, ' '))
    end = at + text.length
  }
  return { kind: 'code', text: parts.join('') + source.slice(end), at: 0 }
}

/** True if the comment at `at` continues the line comments that end at `end`. */
const continues = (source: string, end: number, { text, at }: ScriptToken) =>
  !text.startsWith('/*') && /^\n[^\S\n]*$/.test(source.slice(end, at))

/** Line comments on adjacent lines as one text, block comments each as one. */
function commentTexts(source: string, tokens: ScriptToken[]): Text[] {
  const texts: Text[] = []
  let end = -1
  for (const token of tokens) {
    const { type, text, at } = token
    if (type !== 'comment') continue
    const last = texts.at(-1)
    if (last && end >= 0 && continues(source, end, token)) last.text += source.slice(end, at) + text
    else texts.push({ kind: text.startsWith('/**') ? 'doc' : 'comment', text, at })
    end = text.startsWith('/*') ? -1 : at + text.length
  }
  return texts
}
