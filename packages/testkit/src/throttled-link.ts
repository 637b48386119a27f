import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'

const SLICE_MS = 20
/** Time whose bytes a link may make up for at once, when its process had no processor. */
const MAX_BURST_MS = 500

interface Pump {
  from: Socket
  to: Socket
  queue: Buffer[]
  /** Bytes that may pass, as of `at`. */
  allowance: number
  at: number
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
  readonly #bytesPerMs: number
  readonly #timer: NodeJS.Timeout
  #isStopped = false

  private constructor(target: number, bytesPerSecond: number) {
    this.#target = target
    this.#bytesPerMs = bytesPerSecond / 1_000
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
    const pump: Pump = { from, to, queue: [], allowance: 0, at: performance.now() }
    this.#pumps.add(pump)
    from.setNoDelay(true)
    from.on('error', () => to.destroy())
    from.on('data', (chunk: Buffer) => {
      pump.queue.push(chunk)
      from.pause()
      this.#transportOf(pump)
    })
    from.once('close', () => {
      this.#pumps.delete(pump)
      to.destroy()
    })
  }

  #transport(): void {
    for (const pump of this.#pumps) this.#transportOf(pump)
  }

  #transportOf(pump: Pump): void {
    if (this.#isStopped) return
    const { from, to, queue } = pump
    pump.allowance = this.#allowanceOf(pump)
    pump.at = performance.now()
    while (pump.allowance >= 1 && !to.writableNeedDrain) {
      const chunk = queue.shift()
      if (!chunk) break
      const sent = chunk.subarray(0, pump.allowance)
      to.write(sent)
      if (chunk.length > sent.length) queue.unshift(chunk.subarray(sent.length))
      pump.allowance -= sent.length
    }
    if (queue.length === 0) from.resume()
  }

  #allowanceOf({ allowance, at }: Pump): number {
    if (this.#bytesPerMs === Number.POSITIVE_INFINITY) return this.#bytesPerMs
    const earned = (performance.now() - at) * this.#bytesPerMs
    return Math.min(allowance + earned, MAX_BURST_MS * this.#bytesPerMs)
  }
}
