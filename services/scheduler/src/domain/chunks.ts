export interface Limits {
  items: number
  bytes: number
}

/** Cuts a list into runs that keep both limits; an item that alone exceeds the bytes goes alone. */
export function chunkByBytes<T>(items: T[], bytesOf: (item: T) => number, limits: Limits): T[][] {
  const chunks: T[][] = []
  let chunk: T[] = []
  let bytes = 0
  for (const item of items) {
    const size = bytesOf(item)
    if (chunk.length > 0 && (chunk.length >= limits.items || bytes + size > limits.bytes)) {
      chunks.push(chunk)
      chunk = []
      bytes = 0
    }
    chunk.push(item)
    bytes += size
  }
  if (chunk.length > 0) chunks.push(chunk)
  return chunks
}
