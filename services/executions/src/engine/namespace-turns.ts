const MAX_NAMESPACES = 1_000

/**
 * Namespaces in the order in which this replica last leased work of them: the one that waits longest
 * for its turn comes first. A namespace that is unknown, or forgotten, comes before all of these.
 */
export class NamespaceTurns {
  readonly #served = new Set<string>()

  /** The namespace of the last turn is the last one. */
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
