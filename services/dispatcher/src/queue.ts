import type { ReadyRequirement } from '@windlass/proto/windlass/executions/v1/executions'
import { selectorsOf } from './domain/facts.ts'
import { hopeful, type Need } from './domain/offers.ts'
import type { Sessions } from './sessions.ts'

/** Of requirements without work. What has work is known, however much there is. */
const MAX_KNOWN = 4_096
const MAX_RECENT = 64

/** What is known of the ready queue: which requirements have work waiting. Nudges and polls feed it. */
export class Queue {
  /** Least recently ready first. */
  readonly #known = new Map<string, Need>()
  /** Requirements with work, and the count of nudges at the newest of theirs. */
  readonly #ready = new Map<string, number>()
  #nudges = 0
  #listedAt = 0

  /** Work was queued. */
  nudge(requirement_id: string): void {
    this.#ready.set(requirement_id, ++this.#nudges)
  }

  /** A mark in time: what is nudged after it outlives an answer that was asked for before. */
  get mark(): number {
    return this.#nudges
  }

  get knownIds(): string[] {
    return [...this.#known.keys()]
  }

  /** Whether work was queued of which only the requirement's id is known. */
  get puzzled(): boolean {
    for (const [id, nudge] of this.#ready)
      if (nudge > this.#listedAt && !this.#known.has(id)) return true
    return false
  }

  /** Takes in the whole ready queue as it was asked for at `mark`. */
  listed(requirements: readonly ReadyRequirement[], mark: number): void {
    for (const requirement of requirements) this.#learn(requirement)
    this.#listedAt = mark
    const listed = new Set(requirements.map(({ requirement_id }) => requirement_id))
    for (const [id, nudge] of this.#ready)
      if (nudge <= mark && !listed.has(id)) this.#ready.delete(id)
    for (const id of listed) if (!this.#ready.has(id)) this.#ready.set(id, 0)
    this.#forget()
  }

  /** All work of these requirements was taken, as far as it was queued at `mark`. */
  emptied(requirement_ids: Iterable<string>, mark: number): void {
    for (const id of requirement_ids) if ((this.#ready.get(id) ?? 0) <= mark) this.#ready.delete(id)
  }

  /** Whether there may be work that a worker here can do, with room for it or not. */
  hasHope(sessions: Sessions): boolean {
    return this.puzzled || hopeful(this.needs, sessions, sessions.fleet).length > 0
  }

  /** The requirements that had work last, those of the newest last. Work that nobody can do displaces none. */
  get recent(): Need[] {
    return [...this.#known.values()].filter(({ hope }) => hope?.is !== false).slice(-MAX_RECENT)
  }

  /** The requirements that have work now. */
  get needs(): Need[] {
    return [...this.#ready.keys()].flatMap((id) => this.#known.get(id) ?? [])
  }

  #learn({ requirement_id, requirement }: ReadyRequirement): void {
    const known = this.#known.get(requirement_id)
    this.#known.delete(requirement_id)
    if (known) this.#known.set(requirement_id, known)
    else if (requirement)
      this.#known.set(requirement_id, {
        requirement_id,
        requirement,
        verdicts: new WeakMap(),
        selectors: selectorsOf(requirement),
      })
  }

  #forget(): void {
    if (this.#known.size <= MAX_KNOWN) return
    for (const id of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) return
      if (!this.#ready.has(id)) this.#known.delete(id)
    }
  }
}
