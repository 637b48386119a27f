/** Executions that are being made. What is asked of one in the meantime waits until it is there. */
export class PendingCreates {
  readonly #promises = new Map<string, Promise<unknown>>()

  /** Notes that `made` settles once the execution is there, or is not going to be. */
  track<T>(execution_id: string, made: Promise<T>): Promise<T> {
    const over = () => {
      if (this.#promises.get(execution_id) === settled) this.#promises.delete(execution_id)
    }
    const settled = made.then(over, over)
    this.#promises.set(execution_id, settled)
    return made
  }

  /** Never rejects; undefined where there is nothing to wait for. */
  find(execution_id: string): Promise<unknown> | undefined {
    return this.#promises.get(execution_id)
  }
}
