/** `text` is the source text at offset `at`. */
export interface ScriptToken {
  type: 'comment' | 'string' | 'template' | 'regex' | 'word' | 'number' | 'punct'
  text: string
  at: number
}

const SPACE = /\s+/y
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y
const STRING = /'(?:\\[\s\S]|[^'\\\n])*'?|"(?:\\[\s\S]|[^"\\\n])*"?/y
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
const WORD = /[\p{ID_Start}$_#@][\p{ID_Continue}$]*/uy
const NUMBER = /\.?\d[\w.]*/y
/** The part of a template from its opening (or the brace that ends a substitution) to its end or next substitution. */
const CHUNK = /[`}](?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{|$)/y

/** After these words a slash begins a regular expression, after any other word it divides. */
const BEFORE_REGEX = new Set(
  'return typeof case in of do else delete void throw new instanceof await yield'.split(' '),
)

/** Source without hashbang; offsets stay. */
const withoutHashbang = (source: string) =>
  source.replace(/^#![^\n]*/, (line) => ' '.repeat(line.length))

const match = (pattern: RegExp, source: string, at: number) => {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0] ?? ''
}

/** True if a slash after `token` begins a regular expression. */
const startsRegexAfter = (token: ScriptToken | undefined) => {
  if (!token || token.type === 'template') return token?.text.endsWith('${') ?? true
  if (token.type === 'word') return BEFORE_REGEX.has(token.text)
  return token.type === 'punct' && !')]}'.includes(token.text)
}

/** Reads the token at `at`, which is not white space. */
function tokenAt(source: string, at: number, previous: ScriptToken | undefined): ScriptToken {
  const char = source.charAt(at)
  if (char === '`') return { type: 'template', text: match(CHUNK, source, at), at }
  if (char === "'" || char === '"') return { type: 'string', text: match(STRING, source, at), at }
  if (char === '/') {
    const comment = match(COMMENT, source, at)
    if (comment) return { type: 'comment', text: comment, at }
    const regex = startsRegexAfter(previous) && match(REGEX, source, at)
    return regex ? { type: 'regex', text: regex, at } : { type: 'punct', text: '/', at }
  }
  const word = match(WORD, source, at)
  if (word) return { type: 'word', text: word, at }
  const number = match(NUMBER, source, at)
  return number ? { type: 'number', text: number, at } : { type: 'punct', text: char, at }
}

/** Opens and closes braces in `depths`: one entry per open template, counting braces inside its substitution. */
function trackBraces(depths: number[], token: ScriptToken): void {
  if (token.type === 'template') {
    if (token.text[0] === '}') depths.pop()
    if (token.text.endsWith('${')) depths.push(0)
  } else if (token.type === 'punct' && depths.length > 0) {
    const change = Number(token.text === '{') - Number(token.text === '}')
    depths.push((depths.pop() ?? 0) + change)
  }
}

/** Change of the nesting at a token: 1 where a bracket opens, -1 where one closes. */
export function nesting({ type, text }: { type: string; text: string }): number {
  if (type === 'template') return Number(text.endsWith('${')) - Number(text[0] === '}')
  if (type !== 'punct') return 0
  return Number('([{'.includes(text)) - Number(')]}'.includes(text))
}

/** Splits TypeScript or JavaScript (without JSX) into tokens; white space is left out. */
export function scriptTokens(file: string): ScriptToken[] {
  const source = withoutHashbang(file)
  const tokens: ScriptToken[] = []
  const depths: number[] = []
  let previous: ScriptToken | undefined
  for (let at = match(SPACE, source, 0).length; at < source.length; ) {
    const resumes = source[at] === '}' && depths.at(-1) === 0
    const token: ScriptToken = resumes
      ? { type: 'template', text: match(CHUNK, source, at), at }
      : tokenAt(source, at, previous)
    trackBraces(depths, token)
    tokens.push(token)
    if (token.type !== 'comment') previous = token
    at += token.text.length
    at += match(SPACE, source, at).length
  }
  return tokens
}
