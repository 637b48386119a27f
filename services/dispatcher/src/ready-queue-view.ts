import type { ReadyRequirement } from '@windlass/proto/windlass/executions/v1/executions'
import type { ConnectedWorkers } from './connected-workers.ts'
import { selectorsOf } from './domain/facts.ts'
import { filterMatchable, type RequirementEntry } from './domain/offers.ts'

/** Of requirements without work. What has work is known, however much there is. */
const MAX_IDLE_REQUIREMENTS = 4_096
const MAX_RECENT_REQUIREMENTS = 64

/** What is known of the ready queue: which requirements have work waiting. Nudges and polls feed it. */
export class ReadyQueueView {
  /** Least recently ready first. */
  readonly #known = new Map<string, RequirementEntry>()
  /** Requirements with work, and the count of nudges at the newest of theirs. */
  readonly #ready = new Map<string, number>()
  #version = 0
  #listedVersion = 0

  /** Work was queued. */
  markReady(requirement_id: string): void {
    this.#ready.set(requirement_id, ++this.#version)
  }

  /** A mark in time: what is nudged after it outlives an answer that was asked for before. */
  get version(): number {
    return this.#version
  }

  get knownIds(): string[] {
    return [...this.#known.keys()]
  }

  /** Whether work was queued of which only the requirement's id is known. */
  get hasUnknownRequirements(): boolean {
    for (const [id, version] of this.#ready)
      if (version > this.#listedVersion && !this.#known.has(id)) return true
    return false
  }

  /** Takes in the whole ready queue as it was asked for at `mark`. */
  replaceListing(requirements: readonly ReadyRequirement[], version: number): void {
    for (const requirement of requirements) this.#record(requirement)
    this.#listedVersion = version
    const listed = new Set(requirements.map(({ requirement_id }) => requirement_id))
    for (const [id, readyVersion] of this.#ready)
      if (readyVersion <= version && !listed.has(id)) this.#ready.delete(id)
    for (const id of listed) if (!this.#ready.has(id)) this.#ready.set(id, 0)
    this.#trim()
  }

  /** All work of these requirements was taken, as far as it was queued at `mark`. */
  markEmpty(requirement_ids: Iterable<string>, version: number): void {
    for (const id of requirement_ids)
      if ((this.#ready.get(id) ?? 0) <= version) this.#ready.delete(id)
  }

  /** Whether there may be work that a worker here can do, with room for it or not. */
  hasMatchableWork(workers: ConnectedWorkers): boolean {
    return (
      this.hasUnknownRequirements ||
      filterMatchable(this.readyRequirements, workers, workers.fleetVersion).length > 0
    )
  }

  /** The requirements that had work last, those of the newest last. Work that nobody can do displaces none. */
  get recentRequirements(): RequirementEntry[] {
    return [...this.#known.values()]
      .filter(({ matchable }) => matchable?.value !== false)
      .slice(-MAX_RECENT_REQUIREMENTS)
  }

  /** The requirements that have work now. */
  get readyRequirements(): RequirementEntry[] {
    return [...this.#ready.keys()].flatMap((id) => this.#known.get(id) ?? [])
  }

  #record({ requirement_id, requirement }: ReadyRequirement): void {
    const known = this.#known.get(requirement_id)
    this.#known.delete(requirement_id)
    if (known) this.#known.set(requirement_id, known)
    else if (requirement)
      this.#known.set(requirement_id, {
        requirement_id,
        requirement,
        matches: new WeakMap(),
        selectors: selectorsOf(requirement),
      })
  }

  #trim(): void {
    if (this.#known.size <= MAX_IDLE_REQUIREMENTS) return
    for (const id of this.#known.keys()) {
      if (this.#known.size <= MAX_IDLE_REQUIREMENTS) return
      if (!this.#ready.has(id)) this.#known.delete(id)
    }
  }
}
