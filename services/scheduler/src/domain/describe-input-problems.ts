import type { Problem } from '@windlass/runtime/faults'

const MAX_CHARS = 1_000

/** Describes why a version refuses the input of a schedule; undefined if it does not. */
export function describeInputProblems(
  version: number,
  problems: readonly Problem[],
): string | undefined {
  if (problems.length === 0) return undefined
  const all = problems.map(({ loc, msg }) => [loc.join('.'), msg].filter(Boolean).join(': '))
  return `version ${version} refuses the input: ${all.join('; ')}`.slice(0, MAX_CHARS)
}
