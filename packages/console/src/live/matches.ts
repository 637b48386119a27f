import type { ExecutionRow } from '../api/executions.ts'

export type Filter = Record<string, string | undefined>
/** Result of a filter that only the server can apply to a row. */
type Verdict = 'yes' | 'no' | 'unknown'

const equals = (member: keyof ExecutionRow) => (row: ExecutionRow, value: string) =>
  row[member] === value

/**
 * Filters that can be evaluated on a row; times in another form than the server's are not compared as text.
 */
const TESTS: Record<string, ((row: ExecutionRow, value: string) => boolean) | undefined> = {
  state: ({ state }, value) =>
    value.split(',').some((one) => one.trim().toUpperCase() === state.toUpperCase()),
  workflow_name: equals('workflow_name'),
  namespace: equals('workflow_namespace'),
  worker_name: equals('worker_name'),
  created_by: equals('created_by'),
  id: ({ execution_id }, value) =>
    execution_id.startsWith(value.trim().replaceAll('-', '').toLowerCase()),
  created_after: ({ created_at }, value) => Date.parse(created_at) >= Date.parse(value),
  created_before: ({ created_at }, value) => Date.parse(created_at) < Date.parse(value),
}

/** Returns if a row is in the list of a filter, as far as that can be known without the server. */
export function matches(row: ExecutionRow, filter: Filter): Verdict {
  let verdict: Verdict = 'yes'
  for (const [name, value] of Object.entries(filter)) {
    if (value === undefined || value === '') continue
    const passes = TESTS[name]
    if (!passes) verdict = 'unknown'
    else if (!passes(row, value)) return 'no'
  }
  return verdict
}
