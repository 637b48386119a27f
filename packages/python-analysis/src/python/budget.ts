import { invalid } from '@windlass/runtime/faults'

const MAX_STEPS = 200_000

/** Bounds how much of one source is evaluated: a few names that repeat one another can stand for gigabytes. */
export class Budget {
  #steps = MAX_STEPS

  spend(steps = 1): void {
    this.#steps -= steps
    if (this.#steps < 0) throw invalid('The source declares more than can be analysed.')
  }
}
