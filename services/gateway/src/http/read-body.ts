import { Fault } from '@windlass/runtime/faults'
import type { RequestContext } from './request-context.ts'

/**
 * Limits of the rest of a rejected body that is still read, so that the client can read the response.
 * Discarding 16 MiB occupies the event loop for 12 ms.
 */
const MAX_DISCARDED_BYTES = 20 * 1_048_576
const DISCARD_TIMEOUT_MS = 10_000

export const hasBody = ({ req }: RequestContext): boolean =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0

/** Reads a body; refuses a compressed one, and one longer than `maxBytes` as soon as that is known. */
export async function readBody(ctx: RequestContext, maxBytes: number): Promise<Buffer> {
  requireUnencoded(ctx)
  const declared = Number(ctx.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw tooLarge(ctx, maxBytes)
  ctx.bodyReservation?.growTo(declared)
  const chunks: Buffer[] = []
  let size = 0
  await new Promise<void>((resolve, reject) => {
    ctx.req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) return reject(tooLarge(ctx, maxBytes))
      try {
        ctx.bodyReservation?.growTo(size)
        chunks.push(chunk)
      } catch (error) {
        discardBody(ctx)
        reject(error)
      }
    })
    ctx.req.once('end', resolve)
    ctx.req.once('error', () => reject(new Fault('invalid', 'The body is incomplete')))
  })
  const [first] = chunks
  return chunks.length === 1 && first ? first : Buffer.concat(chunks)
}

export function requireUnencoded(ctx: RequestContext): void {
  const encoding = ctx.header('content-encoding')
  if (encoding === undefined || encoding === 'identity') return
  discardBody(ctx)
  throw new Fault('unsupported_media', `Content-Encoding '${encoding}' is not supported`)
}

export function tooLarge(ctx: RequestContext, maxBytes: number): Fault {
  discardBody(ctx)
  return new Fault('too_large', `Request body too large: more than ${maxBytes} bytes`)
}

/** Discards the rest of a rejected body; closes the connection above the limits of time and size. */
export function discardBody({ req }: RequestContext): void {
  // Nothing else would stop the timer, which would close a connection that already serves other requests.
  if (req.readableEnded || req.destroyed) return
  let size = 0
  const cut = () => req.socket.destroy()
  const discardTimer = setTimeout(cut, DISCARD_TIMEOUT_MS)
  req.removeAllListeners('data')
  req.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > MAX_DISCARDED_BYTES) cut()
  })
  req.once('error', () => {})
  req.once('close', () => clearTimeout(discardTimer))
  req.resume()
}
