import { Fault } from '@windlass/runtime/faults'

const MAX_SHOWN_CHARS = 160

/**
 * Creates the refusal of a source for an error at one place, with line and column (from 1) and the
 * text of the line.
 */
export const syntaxFault = (source: string, offset: number, reason: string): Fault =>
  sourceFault(source, offset, { kind: 'Syntax error', reason })

/** The same for another kind of error. */
export function sourceFault(
  source: string,
  offset: number,
  { kind, reason }: { kind: string; reason: string },
): Fault {
  const start = source.lastIndexOf('\n', offset - 1) + 1
  const next = source.indexOf('\n', start)
  const text = source.slice(start, next < 0 ? source.length : next)
  const line = countLines(source, start)
  const column = [...source.slice(start, offset)].length + 1
  const shown = text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text
  const message = `${kind} in line ${line}, column ${column}: ${reason}: ${shown.trim()}`
  return new Fault('invalid', message, { details: { line, column, text: shown } })
}

/** Returns the number, from 1, of the line that contains `offset`. */
export function countLines(source: string, offset: number): number {
  let lines = 1
  for (let at = source.indexOf('\n'); at >= 0 && at < offset; at = source.indexOf('\n', at + 1)) {
    lines++
  }
  return lines
}
