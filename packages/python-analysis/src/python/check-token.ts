import { syntaxFault } from './syntax-fault.ts'

const DIGITS = '\\d(?:_?\\d)*'
const NUMBER = new RegExp(
  `0x(?:_?[\\da-f])+|0o(?:_?[0-7])+|0b(?:_?[01])+|(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:e[+-]?${DIGITS})?j?`,
  'iy',
)
/** Keywords that may directly follow a number, of which CPython compares no more than this. */
const AFTER_NUMBER = /and|else|for|if|in|is|not|or/y
const WORD_CHARACTER = /[\p{L}\p{N}\p{M}_]/uy
const LEADING_ZERO = /^0[\d_]*[1-9][\d_]*$/
const BASES: Record<string, string> = { x: 'hexadecimal', o: 'octal', b: 'binary' }

const isDigit = (char = ''): boolean => char >= '0' && char <= '9'

/** True if a number begins at `at`. */
export const startsNumber = (source: string, at: number): boolean =>
  isDigit(source[at]) || (source[at] === '.' && isDigit(source[at + 1]))

/** Checks the number that begins at `at` as CPython's tokenizer does, and returns its end. */
export function numberEnd(source: string, at: number): number {
  NUMBER.lastIndex = at
  const number = NUMBER.exec(source)?.[0] ?? ''
  const end = at + number.length
  if (LEADING_ZERO.test(number)) {
    const reason =
      'leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers'
    throw syntaxFault(source, at, reason)
  }
  AFTER_NUMBER.lastIndex = WORD_CHARACTER.lastIndex = end
  if (WORD_CHARACTER.test(source) && !AFTER_NUMBER.test(source)) {
    const base = BASES[source[at + 1]?.toLowerCase() ?? ''] ?? 'decimal'
    throw syntaxFault(source, at, `invalid ${base} literal`)
  }
  return end
}

/** Escapes that may be incomplete. */
const ESCAPES: Record<string, { form: RegExp; reason: string }> = {
  x: { form: /[\da-f]{2}/iy, reason: 'truncated \\xXX escape' },
  u: { form: /[\da-f]{4}/iy, reason: 'truncated \\uXXXX escape' },
  U: {
    form: /(?:000[\da-f]|0010)[\da-f]{4}/iy,
    reason: 'truncated or too large \\UXXXXXXXX escape',
  },
  N: { form: /\{[^}]+\}/y, reason: 'malformed \\N character escape' },
}

/** Checks the escape sequence at `at` in a string with this prefix, in lower case. */
export function checkEscape(source: string, at: number, prefix: string): void {
  const letter = source[at + 1] ?? ''
  const known = ESCAPES[letter]
  if (!known || prefix.includes('r')) return
  if (prefix.includes('b') && letter !== 'x') return
  known.form.lastIndex = at + 2
  if (!known.form.test(source)) throw syntaxFault(source, at, known.reason)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly the ASCII characters
const NOT_ASCII = /[^\x00-\x7f]/

/** Checks the text of a bytes literal, from its first to its last quote. */
export function checkBytes(source: string, start: number, end: number): void {
  if (NOT_ASCII.test(source.slice(start, end)))
    throw syntaxFault(source, start, 'bytes can only contain ASCII literal characters')
}

const ASYNC = /(?:\s|\\\n|#.*\n)+(?:def|for|with)\b/y
const AWAITED = /(?:\s|\\\n|#.*\n)*(?:[\p{L}\p{N}\p{M}_"'([{]|\.\.\.)/uy
/** Keywords that a string may directly follow. */
const BEFORE_STRING = new Set(
  `and as assert await case del elif else except from if import in is lambda match not or raise return type
  while with yield`.split(/\s+/),
)

const STRING_PREFIXES = new Set(['r', 'b', 'u', 'f', 't', 'br', 'rb', 'fr', 'rf', 'tr', 'rt'])
const WORD = /[\p{L}\p{N}\p{M}_]+/uy

/** Returns the word that begins at `at`; undefined if there is none. */
export function wordAt(source: string, at: number): string | undefined {
  WORD.lastIndex = at
  return WORD.exec(source)?.[0]
}

/** Keywords of lines that end in a colon and are followed by a block. */
const HEADERS = new Set(
  'if elif else for while try except finally with def class async match case'.split(' '),
)

/** True if the line that begins at `at` is followed by a block. */
export const beginsBlock = (source: string, at: number): boolean =>
  HEADERS.has(wordAt(source, at) ?? '')

/** True if a word is the prefix of a string. Throws if the word cannot be followed by what follows it. */
export function isStringPrefix(source: string, at: number, word: string): boolean {
  const end = at + word.length
  const next = source[end]
  if (next === '"' || next === "'") {
    if (STRING_PREFIXES.has(word.toLowerCase())) return true
    if (!BEFORE_STRING.has(word)) throw syntaxFault(source, end, 'invalid syntax')
  }
  if (word !== 'async' && word !== 'await') return false
  const form = word === 'async' ? ASYNC : AWAITED
  form.lastIndex = end
  if (!form.test(source)) throw syntaxFault(source, at, 'invalid syntax')
  return false
}

const INCOMPLETE =
  /[=+\-*/%&|^<>~@]|(?:and|as|assert|async|await|class|def|del|elif|for|from|global|if|import|in|is|lambda|nonlocal|not|or|while|with)\b/y
const IMPORTS_EVERYTHING = /\bimport\s*$/

/** Checks the last token of a line, of which the next line is no continuation. */
export function checkLineEnd(source: string, at: number): void {
  INCOMPLETE.lastIndex = at
  if (!INCOMPLETE.test(source)) return
  const before = source.slice(Math.max(0, at - 100), at)
  if (source[at] === '*' && IMPORTS_EVERYTHING.test(before)) return
  throw syntaxFault(source, at, 'invalid syntax')
}

const IN_NAMES = /[\p{ID_Start}\p{ID_Continue}]/u
const KNOWN = /[\p{Cc}\p{Cf}\p{Z}\p{P}\p{S}]/u

/** Checks a character outside of strings that is neither a blank nor part of a word; `before`: the last one. */
export function checkSign(source: string, at: number, before: string): void {
  if (source[at] === ',' && before !== '' && '([{,'.includes(before))
    throw syntaxFault(source, at, 'invalid syntax')
  const point = source.codePointAt(at) ?? 0
  if (point > 0x20 && point < 0x7f) return
  const sign = String.fromCodePoint(point)
  if (IN_NAMES.test(sign) || !KNOWN.test(sign)) return
  const code = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
  const isVisible = /[\p{P}\p{S}]/u.test(sign)
  const reason = isVisible
    ? `invalid character '${sign}' (${code})`
    : `invalid non-printable character ${code}`
  throw syntaxFault(source, at, reason)
}
