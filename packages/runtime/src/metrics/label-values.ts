/** The value of a label beyond its limit of values. */
export const OVERFLOW = '_other'

/**
 * Limits the values of a label that users choose, such as names of workflows: the first `max` values are
 * kept, and all later ones share one series. Each value costs a series in every replica and in Prometheus.
 */
export class LabelValues {
  readonly #max: number
  readonly #known = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  /** The value itself, or OVERFLOW. */
  of(value: string): string {
    if (this.#known.has(value)) return value
    if (this.#known.size >= this.#max) return OVERFLOW
    this.#known.add(value)
    return value
  }
}
