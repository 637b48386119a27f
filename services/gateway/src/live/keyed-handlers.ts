type Handler<T> = (message: T) => void

interface Entry<T> {
  handlers: Set<Handler<T>>
  /** No message since the last call of takeSilentKeys. */
  isSilent: boolean
}

/** Handlers of messages by key: any number for each. */
export class KeyedHandlers<T> {
  readonly #entries = new Map<string, Entry<T>>()

  /** Returns the function that removes the handler; it returns true if it was the last one of its key. */
  add(key: string, handler: Handler<T>): () => boolean {
    const entry = this.#entries.get(key) ?? { handlers: new Set(), isSilent: false }
    this.#entries.set(key, entry)
    entry.handlers.add(handler)
    return () => {
      const isLast = entry.handlers.delete(handler) && entry.handlers.size === 0
      if (isLast) this.#entries.delete(key)
      return isLast
    }
  }

  /** Passes on a message that was received. */
  receive(key: string, message: T): void {
    const entry = this.#entries.get(key)
    if (entry) entry.isSilent = false
    this.deliver(key, message)
  }

  /** Passes on a message as if it had been received; its key stays silent. */
  deliver(key: string, message: T): void {
    for (const handler of this.#entries.get(key)?.handlers ?? []) handler(message)
  }

  /** Returns the keys for which no message was received since the last call. */
  takeSilentKeys(): string[] {
    const silent: string[] = []
    for (const [key, entry] of this.#entries) {
      if (entry.isSilent) silent.push(key)
      entry.isSilent = true
    }
    return silent
  }
}
