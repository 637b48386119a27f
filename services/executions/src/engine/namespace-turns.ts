const MAX_NAMESPACES = 1_000

/**
 * Namespaces in the order in which this replica last leased their work: the one that has waited longest for
 * its turn comes first. An unknown namespace, or one that is no longer remembered, comes before all of
 * these.
 */
export class NamespaceTurns {
  readonly #served = new Set<string>()

  /** Moves the namespace of the last turn to the end. */
  get order(): string[] {
    return [...this.#served]
  }

  record(namespaces: Iterable<string>): void {
    for (const namespace of namespaces) {
      this.#served.delete(namespace)
      this.#served.add(namespace)
    }
    for (const namespace of this.#served) {
      if (this.#served.size <= MAX_NAMESPACES) return
      this.#served.delete(namespace)
    }
  }
}
