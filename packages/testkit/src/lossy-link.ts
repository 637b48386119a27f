import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'

/** How long a request has to be acted upon before its connection breaks. */
const PROCESSING_MS = 60

/**
 * A TCP link to one address that loses replies on demand: what is asked arrives and is done, what
 * is answered does not come back, and then the connection breaks. So a caller sees a call of which
 * it cannot know whether it happened.
 */
export class LossyLink {
  readonly #target: number
  readonly #server: net.Server
  readonly #open = new Set<Socket>()
  #isLosing = false
  #cutAfter: number | undefined
  /** How many connections were broken with a reply owed. */
  lost = 0

  private constructor(target: number) {
    this.#target = target
    this.#server = net.createServer((client) => this.#pass(client))
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

  /** From now on no reply comes through, until `heal`. */
  loseReplies(): void {
    this.#isLosing = true
  }

  /** From now on each connection breaks once this many bytes have come back on it, until `heal`. */
  cutAfter(bytes: number): void {
    this.#cutAfter = bytes
  }

  heal(): void {
    this.#isLosing = false
    this.#cutAfter = undefined
  }

  stop(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }

  #pass(client: Socket): void {
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
    this.#back(client, upstream, close)
  }

  #back(client: Socket, upstream: Socket, close: () => void): void {
    let bytes = 0
    let isBroken = false
    upstream.on('data', (chunk: Buffer) => {
      if (isBroken) return
      const room = this.#cutAfter === undefined ? Number.POSITIVE_INFINITY : this.#cutAfter - bytes
      bytes += chunk.length
      if (!this.#isLosing && chunk.length <= room) {
        client.write(chunk)
        return
      }
      isBroken = true
      this.lost++
      if (!this.#isLosing && room > 0) client.write(chunk.subarray(0, room))
      setTimeout(close, PROCESSING_MS)
    })
  }
}
