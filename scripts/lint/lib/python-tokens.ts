import { nesting } from './script-tokens.ts'

/** `text` is the source text at offset `at`. */
export interface PythonToken {
  type: 'comment' | 'string' | 'word' | 'punct' | 'newline'
  text: string
  at: number
}

type Match = PythonToken['type'] | 'space'

const TOKEN = new RegExp(
  [
    String.raw`(?<comment>#[^\n]*)`,
    String.raw`(?<string>[rbfuRBFU]{0,2}(?:"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'))`,
    String.raw`(?<word>[\p{ID_Start}_][\p{ID_Continue}]*)`,
    String.raw`(?<newline>\n)`,
    String.raw`(?<space>\\\n|[^\S\n]+)`,
    String.raw`(?<punct>[\s\S])`,
  ].join('|'),
  'gu',
)

/**
 * Splits Python into tokens; a `newline` token ends a logical line, so none stands inside brackets.
 */
export function pythonTokens(source: string): PythonToken[] {
  const tokens: PythonToken[] = []
  let depth = 0
  for (const { 0: text, index: at, groups = {} } of source.matchAll(TOKEN)) {
    const type = Object.keys(groups).find((name) => groups[name] !== undefined) as Match
    depth += nesting({ type, text })
    if (type !== 'space' && !(type === 'newline' && depth > 0)) tokens.push({ type, text, at })
  }
  return tokens
}
