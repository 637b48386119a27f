/**
 * Limits of the workflows that a worker has to keep for one connection: their number, and the characters of
 * their encoded parts.
 */
export const MAX_KEPT = 64
export const MAX_KEPT_CHARS = 8 * 1_048_576

/** Form of the workflow in a dispatch: all of it, all of it with the request to keep it, or only its name. */
export type WorkflowForm = 'whole' | 'to_keep' | 'kept'

/**
 * Workflows that a worker keeps because a dispatch on this connection asked for it. Frames of a connection
 * arrive in order or not at all, so the worker has every workflow that was sent before.
 */
export class KeptWorkflows {
  readonly #ids = new Set<string>()
  #chars = 0

  /** Returns the form for the next dispatch, which must then be sent on the connection. */
  formOf(workflow_id: string, length: number): WorkflowForm {
    if (this.#ids.has(workflow_id)) return 'kept'
    if (this.#ids.size >= MAX_KEPT || this.#chars + length > MAX_KEPT_CHARS) return 'whole'
    this.#ids.add(workflow_id)
    this.#chars += length
    return 'to_keep'
  }
}
