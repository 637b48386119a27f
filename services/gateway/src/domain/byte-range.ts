/** First and last byte. */
export interface ByteRange {
  start: number
  end: number
}

export interface ByteCount {
  offset: number
  length: number
}

/** More than the length of the longest text that PostgreSQL stores. */
const MAX_OFFSET = 2 ** 30

const ONE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/

/**
 * Reads a Range header (RFC 9110, 14.2) for a text of this many bytes. Returns undefined for the whole
 * text, which also answers several ranges and other units, because a server may ignore them.
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

/** Position of the first read for a caller that does not know the total; 0 if it depends on the total. */
export function firstPart(header: string | undefined, mostBytes: number): ByteCount {
  const [, first = '', last = ''] = ONE_RANGE.exec(header?.trim() ?? '') ?? []
  const offset = Number(first)
  const length = last === '' ? mostBytes : Number(last) - offset + 1
  if (first === '' || length < 1 || offset > MAX_OFFSET) return { offset: 0, length: mostBytes }
  return { offset, length: Math.min(length, mostBytes) }
}

const suffix = (length: number, total: number) =>
  length === 0 || total === 0
    ? 'unsatisfiable'
    : { start: Math.max(0, total - length), end: total - 1 }
