import type { Node } from 'web-tree-sitter'

const ESCAPE =
  /\\(\n|[\\'"abfnrtv]|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\})/g
const SIMPLE: Record<string, string> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}
const SURROGATE = /\p{Surrogate}/u

/**
 * Returns the value of a string literal, or undefined for bytes, for an f-string with fields, and
 * for characters given by name (`\N{…}`), whose table is not available here.
 */
export function stringValue(literal: Node): string | undefined {
  const start = literal.firstChild?.text.toLowerCase() ?? ''
  const prefix = start.replace(/['"]+$/, '')
  const formatted = /[ft]/.test(prefix)
  if (prefix.includes('b') || prefix.includes('t')) return undefined
  if (formatted && literal.namedChildren.some((child) => child.type === 'interpolation')) {
    return undefined
  }
  const quoteChars = start.length - prefix.length
  const raw = literal.text.slice(start.length, -quoteChars)
  const text = formatted ? raw.replaceAll('{{', '{').replaceAll('}}', '}') : raw
  return prefix.includes('r') ? text : withoutEscapes(text)
}

function withoutEscapes(text: string): string | undefined {
  let unknown = false
  const plain = text.replace(ESCAPE, (_, code: string) => {
    const simple = SIMPLE[code]
    if (simple !== undefined) return simple
    const point = code.startsWith('N') ? Number.NaN : codePoint(code)
    unknown ||= !(point <= 0x10ffff)
    return unknown ? '' : String.fromCodePoint(point)
  })
  return unknown || SURROGATE.test(plain) ? undefined : plain
}

const codePoint = (code: string) =>
  /^[0-7]/.test(code) ? Number.parseInt(code, 8) : Number.parseInt(code.slice(1), 16)

/** Removes the indentation of a docstring (PEP 257). */
export function dedentDocstring(text: string): string {
  const [first = '', ...rest] = text.replaceAll('\t', '        ').split('\n')
  const margins = rest.filter((line) => line.trim()).map((line) => line.search(/\S/))
  const margin = margins.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY)
  const lines = [
    first.trimStart(),
    ...rest.map((line) => line.slice(Math.min(margin, line.length))),
  ]
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/^\n+|\n+$/g, '')
}
