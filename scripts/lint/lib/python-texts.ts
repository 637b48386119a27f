import { type PythonToken, pythonTokens } from './python-tokens.ts'
import type { Text } from './script-texts.ts'
import { nesting } from './script-tokens.ts'

const LOG_METHODS = new Set(['debug', 'info', 'warning', 'error', 'exception', 'critical'])

/** Blanks the prefix and the quotes of a string; offsets stay. */
const stringText = (text: string) =>
  text.replace(/^[a-z]{0,2}(?:"""|'''|["'])|(?:"""|'''|["'])$/gi, (quote) =>
    ' '.repeat(quote.length),
  )

/** True if the string at `i` is a statement of its own: a doc string. */
const isDocString = (tokens: PythonToken[], i: number) =>
  (i === 0 || tokens[i - 1]?.type === 'newline') && (tokens[i + 1]?.type ?? 'newline') === 'newline'

/** True if the parenthesis at `i` opens the arguments of a log method or of a raised error. */
function opensMessage(tokens: PythonToken[], i: number): boolean {
  if (tokens[i]?.text !== '(' || tokens[i - 1]?.type !== 'word') return false
  const [object = '', dot, callee = ''] = tokens
    .slice(Math.max(0, i - 3), i)
    .map(({ text }) => text)
  if (dot === '.' && LOG_METHODS.has(callee)) return /^_*(?:log|logger)$/i.test(object)
  return dot === 'raise' || /(?:Error|Exception)$/.test(callee)
}

/** Indexes of the strings inside log calls and errors. */
function messagesIn(tokens: PythonToken[]): Set<number> {
  const messages = new Set<number>()
  let depth = 0
  let outer: number | undefined // depth around the arguments that are being read
  for (const [i, token] of tokens.entries()) {
    if (outer === undefined && opensMessage(tokens, i)) outer = depth
    depth += nesting(token)
    if (depth === outer) outer = undefined
    else if (outer !== undefined && token.type === 'string') messages.add(i)
  }
  return messages
}

/** Comments on adjacent lines as one text. */
function commentTexts(source: string, tokens: PythonToken[]): Text[] {
  const texts: Text[] = []
  for (const { type, text, at } of tokens) {
    if (type !== 'comment') continue
    const last = texts.at(-1)
    const gap = last ? source.slice(last.at + last.text.length, at) : ''
    if (last && /^\n[^\S\n]*$/.test(gap)) last.text += gap + text
    else texts.push({ kind: 'comment', text, at })
  }
  return texts
}

/**
 * Texts of a Python file; the name of a test function is its title, with spaces for underscores.
 */
export function pythonTexts(source: string): Text[] {
  const all = pythonTokens(source)
  const tokens = all.filter(({ type }) => type !== 'comment')
  const messages = messagesIn(tokens)
  const texts = tokens.flatMap(({ type, text, at }, i): Text[] => {
    if (type === 'string' && isDocString(tokens, i))
      return [{ kind: 'doc', text: stringText(text), at }]
    if (messages.has(i)) return [{ kind: 'message', text: stringText(text), at }]
    if (type === 'word' && text.startsWith('test_') && tokens[i - 1]?.text === 'def')
      return [{ kind: 'title', text: text.slice(5).replaceAll('_', ' '), at: at + 5 }]
    return []
  })
  return [...commentTexts(source, all), ...texts]
}
