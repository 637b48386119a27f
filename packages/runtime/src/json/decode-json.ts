import { isUtf8 } from 'node:buffer'
import { JsonError } from './json.ts'

/**
 * Returns the text of a body. Refuses bytes that are not UTF-8; the grammar also refuses a byte order mark.
 */
export function decodeJson(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new JsonError('the body is not UTF-8', 0)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
