import { randomFillSync } from 'node:crypto'

const HEX = /^[0-9a-f]{32}$/

const ID_BYTES = 16
/** Random bytes for the next ids: fetched together, since a fetch costs much more than the bytes. */
const pool = Buffer.alloc(256 * ID_BYTES)
let used = pool.length

/** The next part of the pool; valid until the next call. */
function takeRandom(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += ID_BYTES
  return pool.subarray(used - ID_BYTES, used)
}

/** Creates a UUIDv7 (RFC 9562, 5.7) as 32 lower-case hex digits; later ids sort later. */
export function newId(now = Date.now()): string {
  const bytes = takeRandom()
  bytes.writeUIntBE(now, 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return bytes.toString('hex')
}

/** Converts an accepted form of an id (with dashes, upper case) to the wire form; undefined for any other text. */
export function parseId(text: string): string | undefined {
  if (HEX.test(text)) return text
  const plain = text.toLowerCase()
  const hex = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(plain)
    ? plain.replaceAll('-', '')
    : plain
  return HEX.test(hex) ? hex : undefined
}
