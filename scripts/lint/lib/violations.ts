import type { Text } from './script-texts.ts'
import { textsOf } from './texts.ts'
import { wordsIn } from './word-list.ts'

export interface Violation {
  file: string
  line: number
  group: string
  word: string
  text: string
}

export interface Exception {
  file: string
  text: string
  group: string
  reason: string
}

/** Replaces the margin of a continued comment by spaces, so that a phrase over two lines is one phrase; offsets stay. */
const joinLines = (text: string) =>
  text.replace(/\n[^\S\n]*(?:\*(?!\/)|\/\/|#|--)?/g, (margin) => ' '.repeat(margin.length))

/** Text in the form that the patterns read: one line, single spaces, and the offset of each of its characters. */
function normalise(text: string) {
  const joined = joinLines(text)
  const offsets: number[] = []
  let plain = ''
  for (const { 0: part, index } of joined.matchAll(/\s+|\S+/g)) {
    const isSpace = part.trim() === ''
    for (let i = 0; i < (isSpace ? 1 : part.length); i++) offsets.push(index + i)
    plain += isSpace ? ' ' : part
  }
  return { plain, offsets }
}

const HEADS = /^[\s/*#-]+/

/** Text to check of one piece; a comment begins after its marks. */
const checkedPart = ({ kind, text }: Text) => {
  const head = kind === 'document' || kind === 'code' ? 0 : (HEADS.exec(text)?.[0].length ?? 0)
  return { head, ...normalise(text.slice(head)) }
}

/** Offsets at which lines begin. */
const lineStarts = (source: string) => [
  0,
  ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1),
]

/** Index of the last start that is not after `offset`. */
function lineIndex(starts: number[], offset: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** Applies the word list to one file. */
export function violationsIn(file: string, source: string): Violation[] {
  const starts = lineStarts(source)
  const found = textsOf(file, source).flatMap((piece) => {
    const { head, plain, offsets } = checkedPart(piece)
    return wordsIn(piece.kind, plain).map(({ group, word, at }) => {
      const index = lineIndex(starts, piece.at + head + (offsets[at] ?? 0))
      const text = source.slice(starts[index], starts[index + 1]).trim()
      return { file, line: index + 1, group, word, text }
    })
  })
  return found.sort((a, b) => a.line - b.line)
}

/**
 * Splits violations into those that an exception covers and the others, and finds exceptions
 * that cover nothing. An exception covers a word of its group on a line that contains its text,
 * if the text contains the word.
 */
export function applyExceptions(violations: Violation[], exceptions: Exception[]) {
  const used = new Set<Exception>()
  const left = violations.filter((violation) => {
    const covering = exceptions.filter(
      ({ file, group, text }) =>
        file === violation.file &&
        group === violation.group &&
        violation.text.includes(text) &&
        text.toLowerCase().includes(violation.word.toLowerCase()),
    )
    for (const exception of covering) used.add(exception)
    return covering.length === 0
  })
  return { left, unused: exceptions.filter((exception) => !used.has(exception)) }
}
