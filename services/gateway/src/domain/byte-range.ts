/** First and last byte. */
export interface ByteRange {
  start: number
  end: number
}

const ONE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/

/**
 * Reads a Range header (RFC 9110, 14.2) for a text of so many bytes. Undefined: the whole text, as for
 * several ranges and other units, which a server may ignore.
 */
export function rangeOf(
  header: string | undefined,
  total: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = ONE_RANGE.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') return suffix(Number(last), total)
  const start = Number(first)
  const end = last === '' ? total - 1 : Math.min(Number(last), total - 1)
  if (last !== '' && Number(last) < start) return undefined
  return start >= total ? 'unsatisfiable' : { start, end }
}

const suffix = (length: number, total: number) =>
  length === 0 || total === 0
    ? 'unsatisfiable'
    : { start: Math.max(0, total - length), end: total - 1 }
