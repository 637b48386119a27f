import type { Heartbeat } from '../store/heartbeats.ts'
import type { Connection } from '../store/workers.ts'

type BufferedPong = Omit<Heartbeat, 'age_ms'> & { at_ms: number }

/**
 * Pongs and disconnects that this process has received and not yet written: the newest pong of each worker,
 * and the streams that ended. A crash loses those of the time between two ticks at most.
 */
export class HeartbeatBuffer {
  #pongs = new Map<string, BufferedPong>()
  #disconnects: Connection[] = []

  /** Buffers a pong, unless a newer one of the worker is buffered. */
  recordPong(pong: Omit<Heartbeat, 'age_ms'>, now_ms: number): void {
    const known = this.#pongs.get(pong.name)
    if (known && known.at_ms > now_ms) return
    this.#pongs.set(pong.name, supplement({ ...pong, at_ms: now_ms }, known))
  }

  /** Buffers a sign of life without a pong: health and metrics stay as the last pong reported them. */
  recordProgress(worker: Pick<Heartbeat, 'name' | 'session_id'>, now_ms: number): void {
    this.recordPong({ ...worker, healthy: undefined, metrics: undefined }, now_ms)
  }

  recordDisconnect(connection: Connection): void {
    this.#disconnects.push(connection)
  }

  /**
   * Passes everything to `write`; if it fails, buffers everything again, except where a newer pong has
   * arrived.
   */
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
      const newer = [...this.#pongs.values()]
      this.#pongs = pongs
      for (const pong of newer) pongs.set(pong.name, supplement(pong, pongs.get(pong.name)))
      this.#disconnects = [...disconnects, ...this.#disconnects]
      throw error
    }
  }
}

/** Keeps the values of the older sign of life that the newer one of the same session does not have. */
const supplement = (newer: BufferedPong, older: BufferedPong | undefined): BufferedPong =>
  older?.session_id === newer.session_id
    ? {
        ...newer,
        healthy: newer.healthy ?? older.healthy,
        metrics: newer.metrics ?? older.metrics,
      }
    : newer
