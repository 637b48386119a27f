import { RuleTokens } from '../compile/rule-tokens.ts'
import type { Bracket, TextPart } from './brackets.ts'
import {
  beginsBlock,
  checkBytes,
  checkEscape,
  checkLineEnd,
  checkSign,
  isStringPrefix,
  numberEnd,
  startsNumber,
  wordAt,
} from './check-token.ts'
import { continuationStart, Indentation } from './indentation.ts'
import { OccurringNames } from './occurring-names.ts'
import { syntaxFault } from './syntax-fault.ts'

/** Limit of CPython's tokenizer. */
const MAX_NESTING = 200
/** Format specifications in format specifications. */
const MAX_SPECIFICATIONS = 2

const CLOSING: Record<string, string> = { '(': ')', '[': ']', '{': '}' }

/**
 * Checks indentation, brackets and string ends as CPython's tokenizer does; tree-sitter recovers
 * from such errors silently. Returns names and tokens that occur outside of strings. Linear time and a
 * stack of at most 200 entries, so it runs before the parser and protects it from deep nesting.
 */
export function checkLayout(source: string): { names: OccurringNames; tokens: RuleTokens } {
  const scanner = new Scanner(source)
  scanner.run()
  return scanner
}

class Scanner {
  readonly names = new OccurringNames()
  readonly tokens = new RuleTokens()
  readonly #source: string
  readonly #brackets: Bracket[] = []
  readonly #indentation: Indentation
  #at = 0
  /** Start of the current logical line. */
  #lineAt = 0
  #hasColon = false
  /** Last significant character of the line, and its position. */
  #last = ''
  #lastAt = 0

  constructor(source: string) {
    this.#source = source
    this.#indentation = new Indentation(source)
  }

  run(): void {
    this.#enterLine()
    while (this.#at < this.#source.length) this.#step(this.#source[this.#at] as string)
    const open = this.#brackets.at(-1)
    if (open) this.#refuse(open.at, `'${open.open}' was never closed`)
    this.#enterLine()
  }

  #step(char: string): void {
    if (char === '\n') this.#endLine()
    else if (char === ' ' || char === '\t' || char === '\f') this.#at++
    else if (char === '#') this.#skipComment()
    else if (char === '\\') this.#at = continuationStart(this.#source, this.#at)
    else this.#token(char)
  }

  #token(char: string): void {
    const start = this.#at
    if (char === '"' || char === "'") this.#string('')
    else if (char in CLOSING) this.#open({ open: char, at: start })
    else if (char === ')' || char === ']' || char === '}') this.#close(char)
    else if (char === ':' && this.#brackets.at(-1)?.resume) {
      this.#specification()
      this.#last = '"'
      return
    } else if (startsNumber(this.#source, start)) this.#at = numberEnd(this.#source, start)
    else this.#word()
    if (char === ':' && this.#brackets.length === 0) this.#hasColon = true
    this.#last = char
    this.#lastAt = start
  }

  #endLine(): void {
    this.#at++
    if (this.#brackets.length > 0) return
    if (this.#source[this.#lastAt] === this.#last) checkLineEnd(this.#source, this.#lastAt)
    this.#enterLine()
  }

  /** Moves to the next logical line and checks its indentation against the line before. */
  #enterLine(): void {
    const opensBlock = this.#last === ':'
    const isHeader = this.#last !== '' && beginsBlock(this.#source, this.#lineAt)
    if (opensBlock && !isHeader) this.#refuse(this.#lineAt, 'invalid syntax')
    const before = {
      opensBlock,
      lacksColon: isHeader && !this.#hasColon,
      lastAt: this.#lastAt,
    }
    this.#at = this.#lineAt = this.#indentation.enterLine(this.#at, before)
    this.#last = ''
    this.#hasColon = false
  }

  #skipComment(): void {
    const end = this.#source.indexOf('\n', this.#at)
    this.#at = end < 0 ? this.#source.length : end
  }

  #word(): void {
    const start = this.#at
    const word = wordAt(this.#source, start)
    if (!word) {
      this.#sign()
      return
    }
    this.#at += word.length
    if (isStringPrefix(this.#source, start, word)) this.#string(word.toLowerCase())
    else if (this.#last !== '.') {
      this.names.addWord(this.#source, start, word, this.#last === '')
      this.tokens.addWord(start, word)
    }
  }

  #sign(): void {
    checkSign(this.#source, this.#at, this.#last)
    this.names.addSign(this.#source[this.#at] as string)
    this.tokens.addSign(this.#source, this.#at, this.#brackets.length)
    this.#at++
  }

  #open(bracket: Bracket): void {
    if (this.#brackets.length === MAX_NESTING) {
      this.#refuse(this.#at, 'too many nested parentheses')
    }
    this.#brackets.push(bracket)
    this.#at++
  }

  #close(char: string): void {
    const bracket = this.#brackets.pop()
    if (!bracket) this.#refuse(this.#at, `unmatched '${char}'`)
    else if (CLOSING[bracket.open] !== char) {
      this.#refuse(
        this.#at,
        `closing parenthesis '${char}' does not match opening parenthesis '${bracket.open}'`,
      )
    }
    this.#at++
    if (bracket?.resume) this.#text(bracket.resume)
  }

  #specification(): void {
    const field = this.#brackets.at(-1)?.resume as TextPart
    this.#at++
    this.#text({ ...field, inSpecification: true })
  }

  #string(prefix: string): void {
    const start = this.#at
    const char = this.#source[start] as string
    const quote = this.#source.startsWith(char.repeat(3), start) ? char.repeat(3) : char
    this.#at += quote.length
    if (/[ft]/.test(prefix)) {
      this.#text({ quote, raw: prefix.includes('r'), inSpecification: false })
      return
    }
    this.#plainText(quote, start, prefix)
    if (!prefix.includes('b')) return
    checkBytes(this.#source, start, this.#at)
    this.tokens.addBytes(start)
  }

  #plainText(quote: string, start: number, prefix: string): void {
    for (; this.#at < this.#source.length; this.#at++) {
      const char = this.#source[this.#at]
      if (char === '\\') {
        checkEscape(this.#source, this.#at, prefix)
        this.#at++
      } else if (char === quote[0] && this.#source.startsWith(quote, this.#at)) {
        this.#at += quote.length
        return
      } else if (char === '\n' && quote.length === 1) break
    }
    this.#refuse(start, 'unterminated string literal')
  }

  /** Scans the text of an f-string up to its end or to the next field. */
  #text(part: TextPart): void {
    const start = this.#at
    while (this.#at < this.#source.length) {
      const char = this.#source[this.#at] as string
      if (char === '\n' && part.quote.length === 1) break
      if (!this.#stepText(char, part)) return
    }
    this.#refuse(Math.min(start, this.#source.length - 1), 'unterminated f-string literal')
  }

  #stepText(char: string, part: TextPart): boolean {
    if (char === '{' || char === '}') return this.#brace(char, part)
    if (char === '\\') this.#escape(part)
    else if (char === part.quote[0] && this.#source.startsWith(part.quote, this.#at)) {
      if (part.inSpecification) this.#refuse(this.#at, "f-string: expecting '}'")
      this.#at += part.quote.length
      return false
    } else this.#at++
    return true
  }

  #brace(char: '{' | '}', part: TextPart): boolean {
    if (this.#skipDoubledBrace(char, part)) return true
    if (char === '{') this.#openField(part)
    else if (part.inSpecification) this.#close('}')
    else this.#refuse(this.#at, "f-string: single '}' is not allowed")
    return false
  }

  #openField(part: TextPart): void {
    const around = this.#brackets.filter(({ resume }) => resume?.inSpecification).length
    if (part.inSpecification && around === MAX_SPECIFICATIONS)
      this.#refuse(this.#at, 'f-string: expressions nested too deeply')
    this.#open({ open: '{', at: this.#at, resume: part })
  }

  #skipDoubledBrace(char: string, { inSpecification }: TextPart): boolean {
    if (inSpecification || this.#source[this.#at + 1] !== char) return false
    this.#at += 2
    return true
  }

  /** Skips an escape. The braces of a named character, `\N{…}`, open no field. */
  #escape({ raw }: TextPart): void {
    if (!raw) checkEscape(this.#source, this.#at, '')
    const named = !raw && this.#source.startsWith('\\N{', this.#at)
    const end = named ? this.#source.indexOf('}', this.#at) : -1
    const brace = /[{}]/.test(this.#source[this.#at + 1] ?? '')
    this.#at = end < 0 ? this.#at + (brace ? 1 : 2) : end + 1
  }

  #refuse(offset: number, reason: string): never {
    throw syntaxFault(this.#source, offset, reason)
  }
}
