import { syntaxFault } from './syntax-fault.ts'

/** What CPython's tokenizer allows. */
const MAX_LEVELS = 100
const TAB_COLUMNS = 8

interface Level {
  columns: number
  /** The same with a tab counted as one column: both must agree, or tabs and spaces are mixed. */
  characters: number
}

/** The logical line before the one that is entered. */
export interface PrecedingLine {
  /** It ends in a colon that asks for a block. */
  opensBlock: boolean
  /** It begins like a line that needs such a colon and has none. */
  lacksColon: boolean
  /** Where its last token is. */
  lastAt: number
}

/** Where the line begins that a backslash at `at` joins to its own. */
export function continuationStart(source: string, at: number): number {
  const isLast = at + 1 >= source.length
  if (!isLast && source[at + 1] !== '\n')
    throw syntaxFault(source, at, 'unexpected character after line continuation character')
  if (at + 2 >= source.length) throw syntaxFault(source, at, 'unexpected end of the source')
  return at + 2
}

/** Answers false for what is no blank. A form feed begins anew. */
function countBlank(level: Level, char: string | undefined): boolean {
  if (char === ' ') level.columns++
  else if (char === '\t') level.columns += TAB_COLUMNS - (level.columns % TAB_COLUMNS)
  else if (char !== '\f') return false
  level.characters++
  if (char === '\f') level.columns = level.characters = 0
  return true
}

/** The indentation of the logical lines of a Python source, as its tokenizer sees it. */
export class Indentation {
  readonly #source: string
  readonly #levels: Level[] = [{ columns: 0, characters: 0 }]

  constructor(source: string) {
    this.#source = source
  }

  /**
   * Passes over blank lines and comments from the line start at `offset` and answers where the next
   * logical line begins, or the end of the source. Refuses a line that does not fit the one before.
   */
  enterLine(offset: number, before: PrecedingLine): number {
    for (let at = offset; at < this.#source.length; ) {
      const { level, end } = this.#measure(at)
      const char = this.#source[end]
      if (char !== '#' && char !== '\n' && char !== undefined) {
        this.#checkLevel(level, end, before)
        return end
      }
      const next = this.#source.indexOf('\n', end)
      if (next < 0) break
      at = next + 1
    }
    if (before.opensBlock) throw this.#fault(before.lastAt, 'expected an indented block')
    return this.#source.length
  }

  /** Of lines that backslashes join the first one with blanks in front of it counts. */
  #measure(start: number): { level: Level; end: number } {
    const level = { columns: 0, characters: 0 }
    let joined = 0
    let at = start
    for (;;) {
      const char = this.#source[at]
      if (char === '\\') {
        joined ||= level.columns
        at = continuationStart(this.#source, at)
      } else if (countBlank(level, char)) at++
      else break
    }
    return { level: joined ? { columns: joined, characters: joined } : level, end: at }
  }

  #checkLevel(level: Level, at: number, before: PrecedingLine): void {
    const current = this.#levels.at(-1) as Level
    const deeper = level.columns > current.columns
    if (deeper && level.characters <= current.characters) throw this.#mixedTabs(at)
    if (before.opensBlock) {
      if (!deeper) throw this.#fault(at, 'expected an indented block')
      if (this.#levels.length === MAX_LEVELS) {
        throw this.#fault(at, 'too many levels of indentation')
      }
      this.#levels.push(level)
    } else if (deeper) {
      throw before.lacksColon
        ? this.#fault(before.lastAt, "expected ':'")
        : this.#fault(at, 'unexpected indent')
    } else this.#dedent(level, at)
  }

  #dedent(level: Level, at: number): void {
    while ((this.#levels.at(-1) as Level).columns > level.columns) this.#levels.pop()
    const left = this.#levels.at(-1) as Level
    if (left.columns !== level.columns) {
      throw this.#fault(at, 'unindent does not match any outer indentation level')
    }
    if (left.characters !== level.characters) throw this.#mixedTabs(at)
  }

  #mixedTabs = (at: number) => this.#fault(at, 'inconsistent use of tabs and spaces in indentation')

  #fault = (at: number, reason: string) => syntaxFault(this.#source, at, reason)
}
