import { Fault } from '@windlass/runtime/faults'
import type { Exchange } from './request-context.ts'

/** What a client may go on sending after its refusal, so that it gets to read the answer. */
const DRAIN_BYTES = 64 * 1_048_576
const DRAIN_MS = 10_000

export const hasBody = ({ req }: Exchange): boolean =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0

/** The bytes of a body; refuses a compressed one, and one that is longer than `maxBytes` as soon as that shows. */
export async function readBody(x: Exchange, maxBytes: number): Promise<Buffer> {
  refuseEncoded(x)
  if (Number(x.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(x, maxBytes)
  const chunks: Buffer[] = []
  let size = 0
  await new Promise<void>((resolve, reject) => {
    x.req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) reject(tooLarge(x, maxBytes))
      else chunks.push(chunk)
    })
    x.req.once('end', resolve)
    x.req.once('error', () => reject(new Fault('invalid', 'the body broke off')))
  })
  const [first] = chunks
  return chunks.length === 1 && first ? first : Buffer.concat(chunks)
}

export function refuseEncoded(x: Exchange): void {
  const encoding = x.header('content-encoding')
  if (encoding === undefined || encoding === 'identity') return
  drain(x)
  throw new Fault('unsupported_media', `Content-Encoding '${encoding}' is not supported`)
}

export function tooLarge(x: Exchange, maxBytes: number): Fault {
  drain(x)
  return new Fault('too_large', `Request body too large: more than ${maxBytes} bytes`)
}

/** Lets the rest of a refused body go by; who sends on for too long or too much is cut off. */
export function drain({ req }: Exchange): void {
  let size = 0
  const cut = () => req.socket.destroy()
  const patience = setTimeout(cut, DRAIN_MS)
  req.removeAllListeners('data')
  req.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > DRAIN_BYTES) cut()
  })
  req.once('error', () => {})
  req.once('close', () => clearTimeout(patience))
  req.resume()
}
