/** Receives a message and its subject. */
export type Handler = (bytes: Uint8Array, subject: string) => void

/**
 * Best-effort messages between the services of one process, with the subjects of NATS: `*` matches one
 * token, `>` the rest. A message is delivered after the code that published it has returned, to every
 * subscriber of that time, the publisher's own included, as NATS does.
 */
export class LocalBus {
  readonly #exact = new Map<string, Set<Handler>>()
  readonly #patterns = new Set<{ matches: (subject: string) => boolean; handler: Handler }>()

  publish(subject: string, bytes: Uint8Array): void {
    if (this.#handlersOf(subject).length === 0) return
    setImmediate(() => {
      for (const handler of this.#handlersOf(subject)) handler(bytes, subject)
    })
  }

  /** Subscribes at once; returns the function that ends the subscription. */
  subscribe(subject: string, handler: Handler): () => void {
    if (/[*>]/.test(subject)) return this.#subscribePattern(subject, handler)
    const handlers = this.#exact.get(subject) ?? new Set()
    this.#exact.set(subject, handlers)
    // Two subscriptions may share a function.
    const own: Handler = (bytes, received) => handler(bytes, received)
    handlers.add(own)
    return () => {
      handlers.delete(own)
      if (handlers.size === 0 && this.#exact.get(subject) === handlers) this.#exact.delete(subject)
    }
  }

  #subscribePattern(subject: string, handler: Handler): () => void {
    const own = { matches: matcherOf(subject), handler }
    this.#patterns.add(own)
    return () => this.#patterns.delete(own)
  }

  #handlersOf(subject: string): Handler[] {
    const handlers = [...(this.#exact.get(subject) ?? [])]
    for (const { matches, handler } of this.#patterns) if (matches(subject)) handlers.push(handler)
    return handlers
  }
}

function matcherOf(pattern: string): (subject: string) => boolean {
  const wanted = pattern.split('.')
  const isOpen = wanted.at(-1) === '>'
  const fixed = isOpen ? wanted.slice(0, -1) : wanted
  return (subject) => {
    const tokens = subject.split('.')
    if (isOpen ? tokens.length <= fixed.length : tokens.length !== fixed.length) return false
    return fixed.every((token, i) => token === '*' || token === tokens[i])
  }
}
