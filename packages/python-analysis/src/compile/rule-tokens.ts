const KEYWORDS = new Set(
  `return yield await async break continue for while with def class lambda try except finally del as raise assert
  import match case type exec print`.split(/\s+/),
)
/** Signs that may form an assignment with an operator, together with `=`. */
const OPERATORS = '+-*/%&|^@<>'

/**
 * Positions of the tokens without which no rule applies, in the order of the source. The walk leaves out the
 * parts of the tree that contain none of them, which are most.
 */
export class RuleTokens {
  readonly positions: number[] = []

  addWord(at: number, word: string): void {
    if (KEYWORDS.has(word)) this.positions.push(at)
  }

  /** Adds a sign; `depth`: number of brackets around it. */
  addSign(source: string, at: number, depth: number): void {
    const sign = source[at] as string
    if (sign === '*') this.positions.push(at)
    else if (sign === ':') this.#addColon(source, at, depth)
    else if (sign === '=') this.#addEquals(source, at, depth)
    else if (sign === '<' && source[at + 1] === '>') this.positions.push(at)
  }

  /** Adds the start of a string of bytes. */
  addBytes(at: number): void {
    this.positions.push(at)
  }

  /** `:=` and annotations; the colons of dictionaries and slices are in brackets. */
  #addColon(source: string, at: number, depth: number): void {
    if (depth === 0 || source[at + 1] === '=') this.positions.push(at)
  }

  /** `+=` and the like; in brackets, also the arguments with a name. */
  #addEquals(source: string, at: number, depth: number): void {
    const before = source[at - 1] ?? ''
    if (source[at + 1] === '=' || before === '=' || before === '!') return
    if (depth > 0 || OPERATORS.includes(before)) this.positions.push(at)
  }
}
