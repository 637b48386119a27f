export interface ChunkOptions<T> {
  /** Size of an item, in the unit of `maxSize`. */
  sizeOf(item: T): number
  maxSize: number
  maxItems?: number
}

/** Splits a list, in order, into chunks within both limits. An item larger than `maxSize` is a chunk of its own. */
export function chunkBySize<T>(
  items: readonly T[],
  { sizeOf, maxSize, maxItems = Number.POSITIVE_INFINITY }: ChunkOptions<T>,
): T[][] {
  const chunks: T[][] = []
  let chunk: T[] = []
  let total = 0
  for (const item of items) {
    const size = sizeOf(item)
    if (chunk.length > 0 && (chunk.length >= maxItems || total + size > maxSize)) {
      chunks.push(chunk)
      chunk = []
      total = 0
    }
    chunk.push(item)
    total += size
  }
  if (chunk.length > 0) chunks.push(chunk)
  return chunks
}
