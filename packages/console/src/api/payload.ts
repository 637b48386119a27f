import { decodePart, PART_BYTES } from '../exact/decode-part.ts'
import { readRange } from './server.ts'

export type PayloadKind = 'input' | 'output' | 'error'

/** Maximum number of bytes of a character. */
const MAX_CHARACTER_BYTES = 4

/** A part of a stored text. */
export interface PayloadPart {
  text: string
  /** Bytes of the whole text. */
  totalBytes: number
}

export const payloadPath = (id: string, kind: PayloadKind) =>
  `/executions/${encodeURIComponent(id)}/${kind}`

/**
 * Reads one part of a stored text by its number. Parts consist of whole characters, and joined they are the
 * text.
 */
export async function readPart(
  path: string,
  part: number,
  signal: AbortSignal,
): Promise<PayloadPart> {
  const from = part * PART_BYTES
  const { bytes, totalBytes } = await readRange(
    path,
    { from, to: from + PART_BYTES + MAX_CHARACTER_BYTES - 1 },
    signal,
  )
  return { text: decodePart(bytes, part === 0), totalBytes }
}
