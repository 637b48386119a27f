import { Agent, Pool } from 'undici'

/** A client with keep-alive and little CPU use: the load generator shares the machine. */
export class Client {
  #pool
  #streams
  #base

  constructor(base, sockets = 512) {
    this.#base = new URL(base).origin
    this.#pool = new Pool(this.#base, { connections: sockets })
    // One connection for each stream, without a timeout: an idle stream sends nothing.
    this.#streams = new Agent({ bodyTimeout: 0, pipelining: 0 })
  }

  /** Sends a request. Returns `{ status, headers, text }`. */
  async request(method, path, { body, headers = {} } = {}) {
    const answer = await this.#pool.request({ method, path, body, headers: typed(body, headers) })
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  }

  /** Opens an event stream; calls `onFrame(event, data)` for each frame. Returns a function that closes it. */
  async stream(method, path, { body, headers = {}, onFrame, onEnd = () => {} }) {
    const origin = this.#base
    const options = { origin, method, path, body, headers: typed(body, headers) }
    const { statusCode, body: frames } = await this.#streams.request(options)
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`)
    frames.setEncoding('utf8')
    let text = ''
    frames.on('data', (chunk) => {
      text += chunk
      let end = text.indexOf('\n\n')
      while (end >= 0) {
        deliver(text.slice(0, end), onFrame)
        text = text.slice(end + 2)
        end = text.indexOf('\n\n')
      }
    })
    frames.on('error', () => {})
    frames.on('close', onEnd)
    return () => frames.destroy()
  }

  close() {
    // Requests of workers in flight end with it, and a second call is refused.
    this.#pool.destroy().catch(() => {})
    this.#streams.destroy().catch(() => {})
  }
}

const typed = (body, headers) =>
  body === undefined ? headers : { 'content-type': 'application/json', ...headers }

function deliver(block, onFrame) {
  const field = (name) => block.match(new RegExp(`^${name}: ?(.*)$`, 'm'))?.[1]
  const event = field('event')
  if (event) onFrame(event, field('data') ?? '')
}
