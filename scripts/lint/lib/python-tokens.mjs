import { nesting } from './script-tokens.mjs'

/**
 * @typedef {'comment' | 'string' | 'word' | 'punct' | 'newline'} TokenType
 * @typedef {{ type: TokenType, text: string, at: number }} Token `text` is the source text at offset `at`
 */

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
 *
 * @param {string} source
 * @returns {Token[]}
 */
export function pythonTokens(source) {
  const tokens = []
  let depth = 0
  for (const { 0: text, index: at, groups } of source.matchAll(TOKEN)) {
    const type = Object.keys(groups).find((name) => groups[name] !== undefined)
    depth += nesting({ type, text })
    if (type !== 'space' && !(type === 'newline' && depth > 0)) tokens.push({ type, text, at })
  }
  return tokens
}
