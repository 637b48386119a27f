/** Routing policy of a workflow, as the catalog extracted it from the source. */
export interface Policy {
  terms: readonly Term[]
}

type Term = { weight: number } & (
  | { kind: 'prefer'; selector: string; op: string; value: unknown }
  | { kind: 'least' | 'most'; selector: string }
  | { kind: 'sticky' }
)

/** An eligible worker. */
export interface RankedWorker {
  worker_name: string
  /** Number of executions that it holds. */
  used: number
  /** By selector: `label:zone`, `metric:cpu_percent`, `resource:cpu_total`. Unknown values are absent. */
  facts: Readonly<Record<string, string>>
}

/** The execution for which workers are ranked. */
export interface RoutingInput {
  preferred_worker?: string | undefined
  /** Values of the input that the policy names, by path. */
  inputs: Readonly<Record<string, unknown>>
}

/** Picks the worker with the highest weighted sum; among equals the least loaded, then the first by name. */
export function pickBest<W extends RankedWorker>(
  { terms }: Policy,
  workers: readonly W[],
  input: RoutingInput,
): W | undefined {
  const scores = workers.map(() => 0)
  for (const term of terms)
    for (const [i, score] of scoresOf(term, workers, input).entries())
      scores[i] = (scores[i] ?? 0) + score * term.weight
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

/** Score of each worker for one term, from 0 to 1. */
function scoresOf(term: Term, workers: readonly RankedWorker[], input: RoutingInput): number[] {
  if (term.kind === 'sticky')
    return workers.map(({ worker_name }) => Number(worker_name === input.preferred_worker))
  if (term.kind === 'prefer') {
    const wanted = wantedOf(term.value, input)
    return workers.map((worker) => Number(compares(factOf(worker, term.selector), term.op, wanted)))
  }
  return normalized(
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

/** Path of the value in the input; undefined for a constant. */
function pathOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('$input' in value)) return undefined
  return String(value.$input)
}

/** Scales values to 0 to 1, with the lowest or the highest first. Equal values score 0.5, unknown ones 0. */
function normalized(values: readonly (number | undefined)[], highestFirst: boolean): number[] {
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

/** Compares as numbers if both are numeric, else as text, for equality only. False for unknown values. */
function compares(fact: string | undefined, op: string, wanted: unknown): boolean {
  if (fact === undefined || wanted === undefined || wanted === null) return false
  const [left, right] = [numberOf(fact), numberOf(wanted)]
  if (left !== undefined && right !== undefined) return BY_NUMBER[op]?.(left, right) ?? false
  if (op === '==') return fact === String(wanted)
  return op === '!=' && fact !== String(wanted)
}

/**
 * Selects the input values that a policy names, as a JSON object by path; undefined if it names none. Only
 * scalars of limited size are selected, so the result is small for any input.
 */
export function selectRoutingInputs(policy: Policy, input_json: string): string | undefined {
  const paths = policy.terms.flatMap((term) =>
    term.kind === 'prefer' ? (pathOf(term.value) ?? []) : [],
  )
  if (paths.length === 0) return undefined
  const parsed: unknown = JSON.parse(input_json)
  const values = paths.map((path) => [path, scalar(path.split('.').reduce(member, parsed))])
  return JSON.stringify(Object.fromEntries(values))
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
