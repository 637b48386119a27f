import { invalid } from '@windlass/runtime/faults'

const MAX_STEPS = 200_000

/**
 * Limits the evaluation steps for one source: 40 names that double one another would yield
 * terabytes.
 */
export class Budget {
  #steps = MAX_STEPS

  spend(steps = 1): void {
    this.#steps -= steps
    if (this.#steps < 0) throw invalid('The source declares more than can be analysed.')
  }
}
