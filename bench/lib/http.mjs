import http from 'node:http'

/** Keep-alive requests with as little work as node:http allows: the load generator shares the machine. */
export class Client {
  #agent
  #base

  constructor(base, sockets = 512) {
    this.#base = new URL(base)
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: sockets })
  }

  /** Answers `{ status, headers, text }`. */
  request(method, path, { body, headers = {} } = {}) {
    return new Promise((resolve, reject) => {
      const request = http.request(this.#options(method, path, { body, headers }), (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () =>
          resolve({ status: response.statusCode, headers: response.headers, text }),
        )
      })
      request.on('error', reject)
      request.end(body)
    })
  }

  /** Opens an event stream; `onFrame(event, data)` for each frame. Answers a function that closes it. */
  stream(method, path, { body, headers = {}, onFrame, onEnd = () => {} }) {
    return new Promise((resolve, reject) => {
      const options = { ...this.#options(method, path, { body, headers }), agent: false }
      const request = http.request(options, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`${path}: ${response.statusCode}`))
        response.setEncoding('utf8')
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
          let end = text.indexOf('\n\n')
          while (end >= 0) {
            deliver(text.slice(0, end), onFrame)
            text = text.slice(end + 2)
            end = text.indexOf('\n\n')
          }
        })
        response.on('close', onEnd)
        resolve(() => request.destroy())
      })
      request.on('error', reject)
      request.end(body)
    })
  }

  close() {
    this.#agent.destroy()
  }

  #options(method, path, { body, headers }) {
    const sent =
      body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const { hostname, port } = this.#base
    return { hostname, port, method, path, agent: this.#agent, headers: { ...sent, ...headers } }
  }
}

function deliver(block, onFrame) {
  const field = (name) => block.match(new RegExp(`^${name}: ?(.*)$`, 'm'))?.[1]
  const event = field('event')
  if (event) onFrame(event, field('data') ?? '')
}
