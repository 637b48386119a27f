import type { IncomingMessage } from 'node:http'
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js'
import type { BodyReservation } from '@windlass/runtime/http/body-budget'
import { decodeJson } from '@windlass/runtime/json/decode-json'
import { checkJson, JsonError } from '@windlass/runtime/json/json'

/** Fits a source of 1 MiB escaped as JSON. */
const MAX_REQUEST_BYTES = 8 * 1_048_576
/** Payloads are strings, so a message has few values; the limits bound the time and memory of parsing. */
const MAX_VALUES = 10_000
const MAX_DEPTH = 64

const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
const REFUSED = -32_000

/** A request that is answered with a status and a JSON-RPC error, and never reaches the protocol. */
export class RequestRefusal extends Error {
  override readonly name = 'RequestRefusal'
  readonly status: number
  readonly code: number

  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/**
 * Reads the JSON-RPC message of a request, or its batch of messages. The API authenticates the caller later, so
 * until then any client can send this: its bytes are reserved before they are kept, and its values are counted
 * before they are parsed. Throws RequestRefusal.
 */
export async function readMessages(
  req: IncomingMessage,
  reservation: BodyReservation,
): Promise<unknown> {
  const encoding = req.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    const message = `Content-Encoding '${encoding}' is not supported`
    throw new RequestRefusal(415, REFUSED, message)
  }
  const body = await readBody(req, reservation)
  const parsed = parseLimited(body)
  const messages: unknown[] = Array.isArray(parsed) ? parsed : [parsed]
  if (messages.length === 0)
    throw new RequestRefusal(400, INVALID_REQUEST, 'Invalid Request: the batch is empty')
  for (const message of messages)
    if (!JSONRPCMessageSchema.safeParse(message).success)
      throw new RequestRefusal(400, INVALID_REQUEST, 'Invalid Request: not a JSON-RPC 2.0 message')
  requireDistinctIds(messages as { id?: string | number }[])
  return parsed
}

async function readBody(req: IncomingMessage, reservation: BodyReservation): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  const grow = (bytes: number) => {
    if (bytes > MAX_REQUEST_BYTES)
      throw new RequestRefusal(
        ...([413, REFUSED] as const),
        `Payload Too Large: a request must not exceed ${MAX_REQUEST_BYTES} bytes`,
      )
    try {
      reservation.growTo(bytes)
    } catch {
      const message = 'Too many request bodies are in flight from your address; retry'
      throw new RequestRefusal(503, REFUSED, message)
    }
  }
  grow(Number(req.headers['content-length'] ?? 0))
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      try {
        size += chunk.length
        grow(size)
        chunks.push(chunk)
      } catch (error) {
        // The rest is discarded, so that the client can read the response.
        req.off('data', take).resume()
        reject(error)
      }
    }
    req.on('data', take)
    req.once('end', resolve)
    const fail = () => reject(new RequestRefusal(400, REFUSED, 'The body is incomplete'))
    req.once('error', fail).once('close', fail)
  })
  return Buffer.concat(chunks)
}

function parseLimited(body: Buffer): unknown {
  try {
    const text = decodeJson(body)
    checkJson(text, MAX_DEPTH, MAX_VALUES)
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    if (error.reason === 'malformed')
      throw new RequestRefusal(400, PARSE_ERROR, `Parse error: ${error.message}`)
    throw new RequestRefusal(400, INVALID_REQUEST, `Invalid Request: ${error.message}`)
  }
}

/** A response is found by its id; of two requests with one id, the second could be neither answered nor aborted. */
function requireDistinctIds(messages: readonly { id?: string | number; method?: string }[]): void {
  const seen = new Set<string | number>()
  for (const { id, method } of messages) {
    if (id === undefined || method === undefined) continue
    if (seen.has(id))
      throw new RequestRefusal(
        ...([400, INVALID_REQUEST] as const),
        'Invalid Request: two requests of the batch have the same id',
      )
    seen.add(id)
  }
}
