import { z } from 'zod'

const text = (description: string) => z.string().optional().describe(description)
const NEEDS = 'needs workflow_name, schedule_id, created_after or finished_after'
const number = (description: string) => z.number().min(0).optional().describe(description)

/** The filters of a search, all of which must match. */
export const filterArgs = {
  state: text('Only in these states, separated by commas'),
  exclude_state: text('Not in these states'),
  namespace: text('Only of this namespace'),
  workflow_name: text('Only of workflows of this name'),
  version: z.int().min(1).optional().describe('Only of this version; needs workflow_name'),
  schedule_id: text('Only started by the schedule of this id'),
  worker_name: text('Only with this worker, now or last'),
  created_by: text('Only started by this principal'),
  parent_id: text('Only nested runs of this execution'),
  created_after: text('Only created since this time (RFC 3339)'),
  created_before: text('Only created before'),
  finished_after: text('Only ended since'),
  finished_before: text('Only ended before'),
  min_duration: number(`Only at least so many seconds long; ${NEEDS}`),
  max_duration: number(`Only at most so many seconds long; ${NEEDS}`),
  id: text('Only with an id that begins so; 8 hex digits or more'),
  tags: text('Only with these tags: key=value,key=value'),
  error: text(`Only with this text in the error; ${NEEDS}`),
  payload: text(
    'input.<path>=<value> or output.<path>=<value>; needs workflow_name, schedule_id, parent_id or tags',
  ),
}

type Filters = z.output<z.ZodObject<typeof filterArgs>>

/** The filters that are given, as text. */
export const filtersOf = (args: Filters): Record<string, string> =>
  Object.fromEntries(
    Object.keys(filterArgs)
      .map((name) => [name, args[name as keyof Filters]])
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) => [name, String(value)]),
  )
