import type { Heartbeat } from '../store/heartbeats.ts'
import type { Connection } from '../store/workers.ts'

type BufferedPong = Omit<Heartbeat, 'age_ms'> & { at_ms: number }

/**
 * Pongs and disconnects that this process has received and not yet written: the newest pong of each
 * worker, and the streams that ended. A crash loses at most the time between two ticks of them.
 */
export class HeartbeatBuffer {
  #pongs = new Map<string, BufferedPong>()
  #disconnects: Connection[] = []

  /** Buffers a pong, unless a newer one of the worker is buffered. */
  recordPong(pong: Omit<Heartbeat, 'age_ms'>, now_ms: number): void {
    const known = this.#pongs.get(pong.name)
    if (known && known.at_ms > now_ms) return
    const metrics = pong.metrics ?? known?.metrics
    this.#pongs.set(pong.name, { ...pong, metrics, at_ms: now_ms })
  }

  recordDisconnect(connection: Connection): void {
    this.#disconnects.push(connection)
  }

  /** Passes everything to `write`; if it fails, buffers it again except where a newer pong has arrived. */
  async flush<T>(
    now_ms: number,
    write: (heartbeats: Heartbeat[], disconnects: readonly Connection[]) => Promise<T>,
  ): Promise<T> {
    const [pongs, disconnects] = [this.#pongs, this.#disconnects]
    this.#pongs = new Map()
    this.#disconnects = []
    try {
      const aged = [...pongs.values()].map(({ at_ms, ...pong }) => ({
        ...pong,
        age_ms: Math.round(now_ms - at_ms),
      }))
      return await write(aged, disconnects)
    } catch (error) {
      this.#pongs = new Map([...pongs, ...this.#pongs])
      this.#disconnects = [...disconnects, ...this.#disconnects]
      throw error
    }
  }
}
