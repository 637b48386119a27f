import type { Beat } from './store/beats.ts'
import type { Connection } from './store/workers.ts'

type Noted = Omit<Beat, 'age_ms'> & { at_ms: number }

/** What this process has learned about workers and the database has not: their newest pongs, and which streams ended. */
export class Pulse {
  #beats = new Map<string, Noted>()
  #departures: Connection[] = []

  /** Notes a pong; one that is older than what is noted is dropped. */
  beat(beat: Omit<Beat, 'age_ms'>, now_ms: number): void {
    const known = this.#beats.get(beat.name)
    if (known && known.at_ms > now_ms) return
    const metrics = beat.metrics ?? known?.metrics
    this.#beats.set(beat.name, { ...beat, metrics, at_ms: now_ms })
  }

  left(connection: Connection): void {
    this.#departures.push(connection)
  }

  /** Hands over all that is noted; it is noted again if `write` fails, unless something newer is by then. */
  async flush<T>(
    now_ms: number,
    write: (beats: Beat[], departures: readonly Connection[]) => Promise<T>,
  ): Promise<T> {
    const [beats, departures] = [this.#beats, this.#departures]
    this.#beats = new Map()
    this.#departures = []
    try {
      const aged = [...beats.values()].map(({ at_ms, ...beat }) => ({
        ...beat,
        age_ms: Math.round(now_ms - at_ms),
      }))
      return await write(aged, departures)
    } catch (error) {
      this.#beats = new Map([...beats, ...this.#beats])
      this.#departures = [...departures, ...this.#departures]
      throw error
    }
  }
}
