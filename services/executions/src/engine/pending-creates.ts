/** In-flight creates. Commands for one of these executions wait until the create has committed or failed. */
export class PendingCreates {
  readonly #promises = new Map<string, Promise<unknown>>()

  /** Registers a create until it settles. Of repeated creates, the last one counts. */
  track<T>(execution_id: string, create: Promise<T>): Promise<T> {
    const remove = () => {
      if (this.#promises.get(execution_id) === settled) this.#promises.delete(execution_id)
    }
    const settled = create.then(remove, remove)
    this.#promises.set(execution_id, settled)
    return create
  }

  /** Returns a promise that never rejects, or undefined if no create of this id is in flight. */
  find(execution_id: string): Promise<unknown> | undefined {
    return this.#promises.get(execution_id)
  }
}
