import { randomBytes } from 'node:crypto'

const HEX = /^[0-9a-f]{32}$/

/** A UUIDv7 (RFC 9562, 5.7) as 32 lower-case hex digits: ids made later sort later. */
export function newId(now = Date.now()): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(now, 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return bytes.toString('hex')
}

/** The wire form of an id given in any accepted form (dashes, capitals), or undefined for what is no id. */
export function parseId(text: string): string | undefined {
  if (HEX.test(text)) return text
  const plain = text.toLowerCase()
  const hex = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(plain)
    ? plain.replaceAll('-', '')
    : plain
  return HEX.test(hex) ? hex : undefined
}
