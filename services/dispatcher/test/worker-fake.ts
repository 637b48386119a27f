import { get, type IncomingMessage } from 'node:http'
import { testIdentity } from '@windlass/testkit/service-identity'
import { onTestFinished } from 'vitest'

interface Frame {
  id: string | undefined
  event: string | undefined
  data: string | undefined
  at_ms: number
}

/** Worker's end of its stream: received frames, and whether it has ended. */
export interface FakeStream {
  status: number
  headers: IncomingMessage['headers']
  frames: Frame[]
  comments: string[]
  /** Reason for the end, as the dispatcher tells the gateway. */
  reason(): string | undefined
  /** Everything received, for bodies that are not streams. */
  text(): string
  ended: boolean
  /** Time of the end. */
  ended_ms: number
  /** Stops reading, like a process that hangs. */
  stall(): void
  /** Reads again. */
  resume(): void
  /** Breaks the connection, like a process that is killed. */
  kill(): void
}

/** Service token of the gateway, and the id of its beats. */
interface FakeGateway {
  credential?: string
  gateway?: string
}

/** Opens `GET /workers/{name}/connect` like a gateway; resolves with the response headers. */
export function openStream(
  port: number,
  name: string,
  session?: string,
  { credential = testIdentity('gateway').serviceToken('dispatcher'), gateway }: FakeGateway = {},
): Promise<FakeStream> {
  return new Promise((resolve, reject) => {
    const request = get({
      host: '127.0.0.1',
      port,
      path: `/workers/${name}/connect`,
      headers: {
        authorization: `Bearer ${credential}`,
        ...(session !== undefined && { 'x-windlass-session': session }),
        ...(gateway !== undefined && { 'x-windlass-gateway': gateway }),
      },
      agent: false,
    })
    onTestFinished(() => void request.destroy())
    request.on('error', reject)
    request.on('response', (response) => resolve(read(response)))
  })
}

function read(response: IncomingMessage): FakeStream {
  let text = ''
  let rest = ''
  const stream: FakeStream = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    frames: [],
    comments: [],
    reason: () => response.trailers['x-windlass-end'],
    text: () => text,
    ended: false,
    ended_ms: Number.NaN,
    stall: () => void response.pause(),
    resume: () => void response.resume(),
    kill: () => void response.destroy(),
  }
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    if (!/\n\n|^\n/.test(chunk)) {
      rest += chunk
      return
    }
    const parts = (rest + chunk).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) take(stream, part)
  })
  response.on('error', () => {})
  response.on('close', () => {
    stream.ended = true
    stream.ended_ms = performance.now()
  })
  return stream
}

function take(stream: FakeStream, part: string): void {
  if (part.startsWith(':')) {
    stream.comments.push(part)
    return
  }
  const fields = new Map(
    part
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  const [id, event, data] = ['id', 'event', 'data'].map((name) => fields.get(name))
  stream.frames.push({ id, event, data, at_ms: performance.now() })
}
