import { isUtf8 } from 'node:buffer'
import { JsonError } from './json.ts'

/** The text of a body. Bytes that are not UTF-8 are refused; so is a byte order mark, by the grammar. */
export function decodeJson(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new JsonError('the body is not UTF-8', 0)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
