/**
 * Finds the call that made another call. A call id of the Python SDK ends with `@` and the hash of the path
 * of its scope, unless the body of the workflow made the call. The path consists of the id of the enclosing
 * call and the part of it that ran: a retry, the rollback, the fallback, or a branch of a composite. For
 * the compensations of a saga, it is the path of the saga. So the scope of an id is found by hashing the
 * paths that the calls of the log can have. An id of any other form has no parent.
 */
export interface CallScopes {
  /** Positions of calls that compensate earlier calls of a saga. */
  compensating: number[]
  /** Position of a call and of the call that made it. */
  parent: [call: number, parent: number][]
}

interface ScopeCall {
  id: string
  tries: number
  hasFallback: boolean
  rollback: object | undefined
}

const SCOPE = /@([0-9a-f]{12})(?:#\d+)?$/
const COMPOSITE = /^(?:parallel|first|as_completed|pipeline)_[0-9a-f]{16}/

/**
 * SHA-256 of a text in hexadecimal digits; an id contains the first 12 digits of the hash of its scope's
 * path.
 */
export type Hash = (text: string) => string
const HASH_CHARS = 12
/** Maximum number of branches of a call, and of sagas of a scope, that are tried. */
const MAX_BRANCHES = 1_000
const MAX_SAGAS = 20
/** Number of consecutive branches without calls after which no further branch is tried. */
const MAX_GAP = 20
/** Maximum number of hashes for one timeline; 100,000 take about 0.1 s. */
const MAX_HASHES = 200_000

class ScopeSearch {
  readonly found = new Map<string, number>()
  readonly sagas = new Set<string>()
  readonly #open: Set<string>
  readonly #hash: Hash
  #hashes = 0

  constructor(scopes: Iterable<string>, hash: Hash) {
    this.#open = new Set(scopes)
    this.#hash = hash
  }

  /** True while a scope is unknown and the limit of hashes is not reached. */
  get isOpen(): boolean {
    return this.#open.size > 0 && this.#hashes < MAX_HASHES
  }

  /**
   * True if a call of the log has the scope of this path. The path belongs to `call`, or to a saga if
   * `call` is absent.
   */
  try(path: string, call: number | undefined): boolean {
    this.#hashes++
    const hash = this.#hash(path).slice(0, HASH_CHARS)
    if (!this.#open.delete(hash)) return false
    if (call === undefined) this.sagas.add(hash)
    else this.found.set(hash, call)
    return true
  }
}

/** Positions of calls that compensate, and of each call with the call that made it, if its id reveals it. */
export function findScopes(calls: readonly ScopeCall[], hash: Hash): CallScopes {
  const scopes = calls.map(({ id }) => SCOPE.exec(id)?.[1])
  const known = [...new Set(scopes.filter((scope) => scope !== undefined))]
  const search = new ScopeSearch(known, hash)
  tryCalls(search, calls)
  tryBranches(search, calls)
  trySagas(search, known)
  return {
    parent: scopes.flatMap((scope = '', i) => {
      const parent = search.found.get(scope)
      // A call never encloses itself or an earlier call: an id that says so has no valid scope.
      return parent === undefined || parent >= i ? [] : [[i, parent] as [number, number]]
    }),
    compensating: scopes.flatMap((scope = '', i) => (search.sagas.has(scope) ? i : [])),
  }
}

function tryCalls(search: ScopeSearch, calls: readonly ScopeCall[]): void {
  for (const [i, { id, tries, rollback, hasFallback }] of calls.entries()) {
    if (!search.isOpen) return
    search.try(id, i)
    if (rollback) search.try(`${id}~rollback`, i)
    if (hasFallback) search.try(`${id}~fallback`, i)
    for (let n = 1; n < tries && search.isOpen; n++) search.try(`${id}~retry${n}`, i)
  }
}

function trySagas(search: ScopeSearch, scopes: readonly string[]): void {
  for (const scope of ['', ...scopes])
    for (let n = 1; n <= MAX_SAGAS && search.isOpen; n++) {
      const saga = scope === '' ? 'saga' : `saga@${scope}`
      search.try(n === 1 ? saga : `${saga}#${n}`, undefined)
    }
}

/** A composite has branches; a branch without calls leaves a gap in their numbers. */
function tryBranches(search: ScopeSearch, calls: readonly ScopeCall[]): void {
  for (const [i, { id }] of calls.entries()) {
    if (!COMPOSITE.test(id)) continue
    for (let n = 0, gap = 0; n < MAX_BRANCHES && gap < MAX_GAP && search.isOpen; n++)
      gap = search.try(`${id}[${n}]`, i) ? 0 : gap + 1
  }
}
