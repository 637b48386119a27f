/** How a workflow ranks the workers that could do its work, as the catalog read it from the source. */
export interface Policy {
  terms: readonly Term[]
}

type Term = { weight: number } & (
  | { kind: 'prefer'; selector: string; op: string; value: unknown }
  | { kind: 'least' | 'most'; selector: string }
  | { kind: 'sticky' }
)

/** A worker that could do the work. */
export interface RankedWorker {
  worker_name: string
  /** How much it holds. */
  used: number
  /** By selector: `label:zone`, `metric:cpu_percent`, `resource:cpu_total`. What is unknown is not there. */
  facts: Readonly<Record<string, string>>
}

/** The work that is ranked for. */
export interface RoutingInput {
  preferred_worker?: string | undefined
  /** What the policy takes from the input, by path. */
  inputs: Readonly<Record<string, unknown>>
}

/** The worker with the highest sum of weights; of equals the one that holds least, then the first by name. */
export function pickBest<W extends RankedWorker>(
  { terms }: Policy,
  workers: readonly W[],
  wish: RoutingInput,
): W | undefined {
  const scores = workers.map(() => 0)
  for (const term of terms)
    for (const [i, share] of scoresOf(term, workers, wish).entries())
      scores[i] = (scores[i] ?? 0) + share * term.weight
  const order = (a: number, b: number): number => {
    const [left, right] = [workers[a] as W, workers[b] as W]
    return (
      (scores[b] ?? 0) - (scores[a] ?? 0) ||
      left.used - right.used ||
      (left.worker_name < right.worker_name ? -1 : 1)
    )
  }
  const [first] = [...workers.keys()].sort(order)
  return first === undefined ? undefined : workers[first]
}

/** How far each worker has what the term is for, from 0 to 1. */
function scoresOf(term: Term, workers: readonly RankedWorker[], wish: RoutingInput): number[] {
  if (term.kind === 'sticky')
    return workers.map(({ worker_name }) => Number(worker_name === wish.preferred_worker))
  if (term.kind === 'prefer') {
    const wanted = wantedOf(term.value, wish)
    return workers.map((worker) => Number(compares(factOf(worker, term.selector), term.op, wanted)))
  }
  return normalised(
    workers.map((worker) => numberOf(factOf(worker, term.selector))),
    term.kind === 'most',
  )
}

const factOf = ({ used, facts }: RankedWorker, selector: string): string | undefined =>
  selector === 'load' ? String(used) : facts[selector]

function wantedOf(value: unknown, { inputs }: RoutingInput): unknown {
  const path = pathOf(value)
  return path === undefined ? value : inputs[path]
}

/** Where the value is to be found in the input; undefined for a constant. */
function pathOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('$input' in value)) return undefined
  return String(value.$input)
}

/** Lowest to highest as 0 to 1, or the other way; all the same: a half; unknown: 0, where it is known of anybody. */
function normalised(values: readonly (number | undefined)[], highestFirst: boolean): number[] {
  const known = values.filter((value) => value !== undefined)
  if (known.length === 0) return values.map(() => 0)
  const [min, max] = [Math.min(...known), Math.max(...known)]
  return values.map((value) => {
    if (value === undefined) return 0
    if (max === min) return 0.5
    return (highestFirst ? value - min : max - value) / (max - min)
  })
}

const NUMBER = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && NUMBER.test(value) ? Number(value) : undefined
}

const BY_NUMBER: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
}

/** By number where both look like one, else by text, which has no order. Nothing compares with what is unknown. */
function compares(fact: string | undefined, op: string, wanted: unknown): boolean {
  if (fact === undefined || wanted === undefined || wanted === null) return false
  const [left, right] = [numberOf(fact), numberOf(wanted)]
  if (left !== undefined && right !== undefined) return BY_NUMBER[op]?.(left, right) ?? false
  if (op === '==') return fact === String(wanted)
  return op === '!=' && fact !== String(wanted)
}

/**
 * What a policy takes from an input, as a JSON object by path; undefined when it takes nothing. Only
 * scalars are taken, so an input of any size leaves little behind.
 */
export function selectRoutingInputs(policy: Policy, input_json: string): string | undefined {
  const paths = policy.terms.flatMap((term) =>
    term.kind === 'prefer' ? (pathOf(term.value) ?? []) : [],
  )
  if (paths.length === 0) return undefined
  const input: unknown = JSON.parse(input_json)
  const taken = paths.map((path) => [path, scalar(path.split('.').reduce(member, input))])
  return JSON.stringify(Object.fromEntries(taken))
}

const member = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined

const MAX_TEXT = 1_024

function scalar(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  return typeof value === 'string' && value.length <= MAX_TEXT ? value : undefined
}
