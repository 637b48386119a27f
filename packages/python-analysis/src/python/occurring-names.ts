const MAX_OCCURRENCES = 200
/** A word after one of these is bound by the statement. */
const BINDERS = new Set(['def', 'class', 'import', 'as', 'for', 'global'])
/** `=`, but not `==`; or `:`, but not `:=`. */
const BINDING = /[ \t]*(?:=(?!=)|:(?!=))/y

/**
 * Names that occur in a source outside of strings and not after a dot, as far as the text around them does
 * not show that they are bound: most are, and need no look at the tree.
 */
export class OccurringNames {
  /** Positions of each name, in the order of the source. */
  readonly positions = new Map<string, number[]>()
  /** True if names may be bound that the source does not contain. */
  hasStarImport = false
  readonly #bound = new Set<string>()
  #before = ''

  /** True if the name occurs. */
  has(name: string): boolean {
    return this.positions.has(name) || this.#bound.has(name)
  }

  /** Adds a word of the source; `isFirst` if it begins a statement. */
  addWord(source: string, at: number, word: string, isFirst: boolean): void {
    const name = /^[\x21-\x7e]+$/.test(word) ? word : word.normalize('NFKC')
    BINDING.lastIndex = at + word.length
    const isBound = BINDERS.has(this.#before) || (isFirst && BINDING.test(source))
    this.#before = word
    if (this.#bound.has(name)) return
    const positions = this.positions.get(name)
    if (isBound || positions?.length === MAX_OCCURRENCES) {
      this.#bound.add(name)
      this.positions.delete(name)
    } else if (positions) positions.push(at)
    else this.positions.set(name, [at])
  }

  /** Adds any other character except blanks. */
  addSign(sign: string): void {
    if (sign === '*' && this.#before === 'import') this.hasStarImport = true
    this.#before = ''
  }
}
