/** Bytes of one part of a large text. */
export const PART_BYTES = 65_536

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/**
 * Decodes the characters that begin in a part of UTF-8 text. The bytes extend beyond the part, where its
 * last character may end; a character that began before it belongs to the part before.
 */
export function decodePart(bytes: Uint8Array, isFirst: boolean, partBytes = PART_BYTES): string {
  let start = 0
  if (!isFirst) while (isContinuation(bytes[start])) start++
  let end = Math.min(partBytes, bytes.length)
  while (isContinuation(bytes[end])) end++
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start, end))
}
