import type { ReadyRequirement } from '@windlass/proto/windlass/executions/v1/executions'
import { selectorsOf } from '../domain/facts.ts'
import { filterMatchable, type RequirementEntry } from '../domain/offers.ts'
import type { ConnectedWorkers } from './connected-workers.ts'

/** Maximum number of requirements without queued work; those with queued work are all kept. */
const MAX_IDLE_REQUIREMENTS = 4_096
const MAX_RECENT_REQUIREMENTS = 64

/**
 * This process's copy of the ready queue: the requirements that have queued work. Wake-ups
 * (`ready.<requirement_id>`) add to it, and the listing of each second replaces it. The content of a
 * requirement is read once; after that only its id is.
 */
export class ReadyQueueView {
  /** Least recently ready first. */
  readonly #known = new Map<string, RequirementEntry>()
  /** Requirements with queued work, and the version at their newest wake-up. */
  readonly #ready = new Map<string, number>()
  #version = 0
  #listedVersion = 0

  /** Records a wake-up: work of the requirement was queued. */
  markReady(requirement_id: string): void {
    this.#ready.set(requirement_id, ++this.#version)
  }

  /** Grows with each wake-up. Read before a request: its answer does not override later wake-ups. */
  get version(): number {
    return this.#version
  }

  get knownIds(): string[] {
    return [...this.#known.keys()]
  }

  /** True if work was queued whose requirement is known only by its id; a listing resolves it. */
  get hasUnknownRequirements(): boolean {
    for (const [id, readyAt] of this.#ready)
      if (readyAt > this.#listedVersion && !this.#known.has(id)) return true
    return false
  }

  /** Replaces the view with a complete listing that was requested at `version`. */
  replaceListing(requirements: readonly ReadyRequirement[], version: number): void {
    for (const requirement of requirements) this.#record(requirement)
    this.#listedVersion = version
    const listed = new Set(requirements.map(({ requirement_id }) => requirement_id))
    for (const [id, readyAt] of this.#ready)
      if (readyAt <= version && !listed.has(id)) this.#ready.delete(id)
    for (const id of listed) if (!this.#ready.has(id)) this.#ready.set(id, 0)
    this.#trim()
  }

  /** Removes requirements whose work, as queued at `version`, has all been leased. */
  markEmpty(requirement_ids: Iterable<string>, version: number): void {
    for (const id of requirement_ids)
      if ((this.#ready.get(id) ?? 0) <= version) this.#ready.delete(id)
  }

  /** True if a connected worker matches queued work, with or without free slots. */
  hasMatchableWork(workers: ConnectedWorkers): boolean {
    if (this.hasUnknownRequirements) return true
    return filterMatchable(this.readyRequirements, workers, workers.fleetVersion).length > 0
  }

  /** Requirements that had work most recently, the newest last; unmatchable ones are left out. */
  get recentRequirements(): RequirementEntry[] {
    const entries = [...this.#known.values()].filter(({ matchable }) => matchable?.value !== false)
    return entries.slice(-MAX_RECENT_REQUIREMENTS)
  }

  /** Requirements with queued work whose content is known. */
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
