/** Calls of a process to one replica from which on the next replica gets some too. */
const ENOUGH_CALLS = 16
/** Part of its processor time that a replica should use while it gets more than its part of the calls. */
const TARGET = 0.7
/** The largest change by one report: in-flight calls and load are not proportional. */
const MAX_FACTOR = 2

/**
 * Number of batched calls that a process gives a replica before others get some. A replica that is saturated reports its
 * load twice a second, and each client gives it fewer calls until it has processor time left again.
 * Without that, three saturated replicas gave 0.73 of the executions/s of calls in turn (docs/scaling.md).
 */
export class CallLimit {
  #limit = ENOUGH_CALLS

  /** At least 1. */
  get calls(): number {
    return Math.max(1, Math.round(this.#limit))
  }

  /** `utilization`: part of its processor time that the replica used in the last half second, 0 to 1. */
  adapt(utilization: number): void {
    const factor = Math.min(MAX_FACTOR, TARGET / Math.max(utilization, TARGET / MAX_FACTOR))
    this.#limit = Math.min(ENOUGH_CALLS, Math.max(0.5, this.#limit * factor))
  }
}
