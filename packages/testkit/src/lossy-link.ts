import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'

/** Time for the server to process a request before its connection breaks. */
const PROCESSING_MS = 60

/** A part of a chunked response that is one or more whole chunks with a dispatch frame, as short frames are. */
const WHOLE_FRAME = /^[0-9a-f]+\r\n[\s\S]*\nevent: execution_[\s\S]*\n\n\r\n$/

/**
 * A TCP proxy that loses responses on demand: the request arrives and is processed, its response is
 * dropped, and the connection breaks. The caller cannot know if the call has happened. It can also deliver dispatch
 * frames twice.
 */
export class LossyLink {
  readonly #target: number
  readonly #server: net.Server
  readonly #open = new Set<Socket>()
  #isLosing = false
  #cutAfter: number | undefined
  #isRepeating = false
  /** Number of connections broken with a response outstanding. */
  lost = 0

  private constructor(target: number) {
    this.#target = target
    this.#server = net.createServer((client) => this.#forward(client))
  }

  /** Opens a link to a port of 127.0.0.1. */
  static async to(target: number): Promise<LossyLink> {
    const link = new LossyLink(target)
    link.#server.listen(0, '127.0.0.1')
    await once(link.#server, 'listening')
    return link
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Drops every response until `heal`. */
  loseReplies(): void {
    this.#isLosing = true
  }

  /** Breaks each connection after this many response bytes, until `heal`. */
  cutAfter(bytes: number): void {
    this.#cutAfter = bytes
  }

  /** Delivers each dispatch frame twice, until `heal`. */
  repeatFrames(): void {
    this.#isRepeating = true
  }

  heal(): void {
    this.#isLosing = false
    this.#isRepeating = false
    this.#cutAfter = undefined
  }

  stop(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }

  #forward(client: Socket): void {
    const upstream = net.connect({ port: this.#target, host: '127.0.0.1' })
    const ends = [client, upstream]
    const close = () => {
      for (const end of ends) end.destroy()
    }
    for (const end of ends) {
      this.#open.add(end)
      end.setNoDelay(true)
      end.on('error', close)
      end.once('close', () => {
        this.#open.delete(end)
        close()
      })
    }
    client.pipe(upstream)
    this.#forwardResponses(client, upstream, close)
  }

  #forwardResponses(client: Socket, upstream: Socket, close: () => void): void {
    let bytes = 0
    let isBroken = false
    upstream.on('data', (chunk: Buffer) => {
      if (isBroken) return
      const remaining =
        this.#cutAfter === undefined ? Number.POSITIVE_INFINITY : this.#cutAfter - bytes
      bytes += chunk.length
      if (!this.#isLosing && chunk.length <= remaining) {
        this.#pass(client, chunk)
        return
      }
      isBroken = true
      this.lost++
      if (!this.#isLosing && remaining > 0) client.write(chunk.subarray(0, remaining))
      setTimeout(close, PROCESSING_MS)
    })
  }

  #pass(client: Socket, chunk: Buffer): void {
    client.write(chunk)
    if (this.#isRepeating && WHOLE_FRAME.test(chunk.toString())) client.write(chunk)
  }
}
