import type { Heartbeat } from './store/heartbeats.ts'
import type { Connection } from './store/workers.ts'

type BufferedPong = Omit<Heartbeat, 'age_ms'> & { at_ms: number }

/** What this process has learned about workers and the database has not: their newest pongs, and which streams ended. */
export class HeartbeatBuffer {
  #pongs = new Map<string, BufferedPong>()
  #disconnects: Connection[] = []

  /** Notes a pong; one that is older than what is noted is dropped. */
  recordPong(pong: Omit<Heartbeat, 'age_ms'>, now_ms: number): void {
    const known = this.#pongs.get(pong.name)
    if (known && known.at_ms > now_ms) return
    const metrics = pong.metrics ?? known?.metrics
    this.#pongs.set(pong.name, { ...pong, metrics, at_ms: now_ms })
  }

  recordDisconnect(connection: Connection): void {
    this.#disconnects.push(connection)
  }

  /** Hands over all that is noted; it is noted again if `write` fails, unless something newer is by then. */
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
