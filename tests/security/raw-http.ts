import { once } from 'node:events'
import { request } from 'node:http'
import net from 'node:net'

const HANG_MS = 60_000

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  /** The parsed JSON; undefined if the text is no JSON. */
  body: unknown
}

interface RawRequest {
  headers: Record<string, string>
  body?: unknown
  /** Sent byte for byte instead of `body`. */
  raw?: string | Buffer
  /** Reads an event stream to its end. */
  keepsStream?: boolean
}

/** Sends one request, its path unchanged. For an event stream, returns the head and closes it. */
export function sendRequest(
  base: string,
  method: string,
  path: string,
  { headers, body, raw, keepsStream = false }: RawRequest,
): Promise<Answer> {
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const type: Record<string, string> =
    text === undefined ? {} : { 'content-type': 'application/json' }
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { hostname, port, method, path, headers: { ...type, ...headers }, agent: false },
      (response) => {
        const { statusCode: status = 0, headers } = response
        const isStream = !keepsStream && String(headers['content-type']).includes('event-stream')
        let read = ''
        const done = () => resolve({ status, headers, text: read, body: parsed(read) })
        if (isStream) {
          done()
          return void response.destroy()
        }
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          read += chunk
        })
        response.once('end', done)
      },
    )
    outgoing.setTimeout(HANG_MS, () => outgoing.destroy(new Error(`${method} ${path}: no answer`)))
    outgoing.once('error', reject)
    outgoing.end(text)
  })
}

/** Sends raw bytes on a connection of its own and returns the response when the server closes it. */
export async function sendRaw(base: string, bytes: string): Promise<Answer> {
  const { hostname, port } = new URL(base)
  const socket = net.connect(Number(port), hostname)
  socket.setTimeout(HANG_MS, () => socket.destroy(new Error('no answer')))
  let read = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk) => {
    read += chunk
  })
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  const [head = '', ...rest] = read.split('\r\n\r\n')
  const text = rest.join('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), headers: headersOf(head), text, body: parsed(text) }
}

const headersOf = (head: string) =>
  Object.fromEntries(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 2),
      ]),
  )

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
