import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'

const SLICE_MS = 20

interface Pump {
  from: Socket
  to: Socket
  queue: Buffer[]
}

/**
 * A TCP proxy to a port of 127.0.0.1 that can stop and that can limit the bytes per second of each
 * direction. A stopped link keeps its connections open and transports nothing, like a process that
 * was suspended.
 */
export class ThrottledLink {
  readonly #target: number
  readonly #server: net.Server
  readonly #pumps = new Set<Pump>()
  readonly #bytesPerSlice: number
  readonly #timer: NodeJS.Timeout
  #isStopped = false

  private constructor(target: number, bytesPerSecond: number) {
    this.#target = target
    this.#bytesPerSlice = (bytesPerSecond * SLICE_MS) / 1_000
    this.#server = net.createServer((client) => this.#forward(client))
    this.#timer = setInterval(() => this.#transport(), SLICE_MS)
  }

  static async to(target: number, bytesPerSecond = Number.POSITIVE_INFINITY) {
    const link = new ThrottledLink(target, bytesPerSecond)
    link.#server.listen(0, '127.0.0.1')
    await once(link.#server, 'listening')
    return link
  }

  /** Opens a link to the store of a URL; returns it with the URL of the same store through the link. */
  static async toStore(storeUrl: string): Promise<{ link: ThrottledLink; url: string }> {
    const url = new URL(storeUrl)
    const link = await ThrottledLink.to(Number(url.port))
    url.port = String(link.port)
    url.hostname = '127.0.0.1'
    return { link, url: url.href }
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  stop(): void {
    this.#isStopped = true
  }

  resume(): void {
    this.#isStopped = false
  }

  close(): void {
    clearInterval(this.#timer)
    this.#server.close()
    for (const { from } of this.#pumps) from.destroy()
  }

  #forward(client: Socket): void {
    const upstream = net.connect({ port: this.#target, host: '127.0.0.1' })
    this.#pump(client, upstream)
    this.#pump(upstream, client)
  }

  #pump(from: Socket, to: Socket): void {
    const pump: Pump = { from, to, queue: [] }
    this.#pumps.add(pump)
    from.setNoDelay(true)
    from.on('error', () => to.destroy())
    from.on('data', (chunk: Buffer) => {
      pump.queue.push(chunk)
      from.pause()
      if (this.#bytesPerSlice === Number.POSITIVE_INFINITY) this.#transportOf(pump)
    })
    from.once('close', () => {
      this.#pumps.delete(pump)
      to.destroy()
    })
  }

  #transport(): void {
    for (const pump of this.#pumps) this.#transportOf(pump)
  }

  #transportOf({ from, to, queue }: Pump): void {
    if (this.#isStopped) return
    let left = this.#bytesPerSlice
    while (left > 0 && !to.writableNeedDrain) {
      const chunk = queue.shift()
      if (!chunk) break
      to.write(chunk.subarray(0, left))
      if (chunk.length > left) queue.unshift(chunk.subarray(left))
      left -= chunk.length
    }
    if (queue.length === 0) from.resume()
  }
}
