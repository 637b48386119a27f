import { syntaxFault } from './syntax-fault.ts'

/** Limit of CPython's tokenizer. */
const MAX_LEVELS = 100
const TAB_COLUMNS = 8

interface Level {
  columns: number
  /** Width with a tab as one column. Both widths must compare alike, or tabs and spaces are mixed. */
  characters: number
}

/** Facts about the logical line before the one that begins. */
export interface PrecedingLine {
  /** It ends in a colon and needs a block. */
  opensBlock: boolean
  /** It starts with a block keyword but has no colon. */
  lacksColon: boolean
  /** Position of its last token. */
  lastAt: number
}

/** Returns the start of the line that a backslash at `at` joins to its own. */
export function continuationStart(source: string, at: number): number {
  const isLast = at + 1 >= source.length
  if (!isLast && source[at + 1] !== '\n')
    throw syntaxFault(source, at, 'unexpected character after line continuation character')
  if (at + 2 >= source.length) throw syntaxFault(source, at, 'unexpected end of the source')
  return at + 2
}

/** Adds a blank to a level; returns false for any other character. A form feed resets the level. */
function countBlank(level: Level, char: string | undefined): boolean {
  if (char === ' ') level.columns++
  else if (char === '\t') level.columns += TAB_COLUMNS - (level.columns % TAB_COLUMNS)
  else if (char !== '\f') return false
  level.characters++
  if (char === '\f') level.columns = level.characters = 0
  return true
}

/** Checks the indentation of logical lines as CPython's tokenizer does. */
export class Indentation {
  readonly #source: string
  readonly #levels: Level[] = [{ columns: 0, characters: 0 }]

  constructor(source: string) {
    this.#source = source
  }

  /**
   * Skips blank lines and comments from the line start at `offset`. Returns the start of the next
   * logical line, or the end of the source. Throws for a line whose indentation does not fit.
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

  /**
   * Measures the indentation. Of lines joined by backslashes the first with leading blanks counts.
   */
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
