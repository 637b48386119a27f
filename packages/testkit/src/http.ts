import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface RequestOptions {
  body?: string | Buffer
  headers?: Record<string, string>
  timeoutMs?: number
}

export interface HttpResponse {
  status: number
  headers: IncomingHttpHeaders
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests access the members that they expect.
  json: any
}

const TIMEOUT_MS = 60_000
const agent = new Agent({ keepAlive: true, maxSockets: 512 })

/** Sends one request with an unchanged body, JSON unless the headers name another type. Rejects on a timeout. */
export function call(
  method: string,
  url: string,
  sent: RequestOptions = {},
): Promise<HttpResponse> {
  const { body, headers = {}, timeoutMs = TIMEOUT_MS } = sent
  const described =
    body === undefined
      ? headers
      : {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
          ...headers,
        }
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers: described, agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const { statusCode: status = 0, headers: answered } = response
        resolve({ status, headers: answered, text, json: parsed(text) })
      })
    })
    outgoing.setTimeout(timeoutMs, () =>
      outgoing.destroy(new Error(`no response: ${method} ${url}`)),
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface EventFrame {
  event: string
  id: string
  data: string
}

/** An open stream of server-sent events. */
export interface EventStream {
  status: number
  headers: IncomingHttpHeaders
  readonly ended: boolean
  /** Stops reading: the server sees a stopped process. `resume` continues. */
  pause(): void
  resume(): void
  close(): void
}

/** Opens an event stream; `onFrame` gets each frame. Resolves with the response head. */
export function openEventStream(
  url: string,
  headers: Record<string, string>,
  onFrame: (frame: EventFrame) => void,
): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers, agent: false }, (response) => {
      let text = ''
      let ended = false
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        const blocks = (text + chunk).split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) if (/^event: /m.test(block)) onFrame(frameOf(block))
      })
      response.on('error', () => {})
      response.on('close', () => {
        ended = true
      })
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        get ended() {
          return ended
        },
        pause: () => void response.pause(),
        resume: () => void response.resume(),
        close: () => void outgoing.destroy(),
      })
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

function frameOf(block: string): EventFrame {
  const field = (name: string) =>
    block
      .split('\n')
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
      .join('\n')
  return { event: field('event'), id: field('id'), data: field('data') }
}
