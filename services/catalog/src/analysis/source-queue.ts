/** A source that waits for its analysis. */
interface Queued {
  /** Key of the principal whose source it is. */
  principal: string
}

/**
 * A bounded queue in which principals take turns, so that one with many sources delays another one by at most one
 * of them. In a full queue a new source takes the place of the last one of the principal with the most.
 */
export class SourceQueue<Job extends Queued> {
  readonly #maxJobs: number
  /** By principal, in the order of their turns. */
  readonly #jobs = new Map<string, Job[]>()
  #length = 0

  constructor(maxJobs: number) {
    this.#maxJobs = maxJobs
  }

  get length(): number {
    return this.#length
  }

  /** Adds a job. Returns the one that found no place: this one, or one that had waited; undefined if there was place. */
  add(job: Job): Job | undefined {
    const own = this.#jobs.get(job.principal) ?? []
    let displaced: Job | undefined
    if (this.#length >= this.#maxJobs) {
      const most = this.#longest()
      // Otherwise two principals would take places from each other for ever.
      if (own.length + 1 >= most.length) return job
      displaced = most.pop()
      this.#length--
    }
    own.push(job)
    this.#jobs.set(job.principal, own)
    this.#length++
    return displaced
  }

  /** Removes the job whose turn it is. */
  take(): Job | undefined {
    const [turn] = this.#jobs
    if (!turn) return undefined
    const [principal, jobs] = turn
    const job = jobs.shift()
    this.#jobs.delete(principal)
    if (jobs.length > 0) this.#jobs.set(principal, jobs)
    this.#length--
    return job
  }

  /** Removes a job; false if it does not wait any more. */
  remove(job: Job): boolean {
    const jobs = this.#jobs.get(job.principal) ?? []
    const at = jobs.indexOf(job)
    if (at < 0) return false
    jobs.splice(at, 1)
    if (jobs.length === 0) this.#jobs.delete(job.principal)
    this.#length--
    return true
  }

  #longest(): Job[] {
    let longest: Job[] = []
    for (const jobs of this.#jobs.values()) if (jobs.length > longest.length) longest = jobs
    return longest
  }
}
