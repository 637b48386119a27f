import { Fault, type Problem, unprocessable } from '@windlass/runtime/faults'
import type { z } from 'zod'
import { type Search, searchOf, searchQuery, workflowQuery } from './search-query.ts'

const { sort: _sort, cursor: _cursor, limit: _limit, offset: _offset, ...filters } = searchQuery

/** The filters of `GET /executions`, without its order and pages. */
export const filterQuery = { ...workflowQuery, ...filters }

type Filters = z.output<z.ZodObject<typeof filterQuery>>

/**
 * Converts filters in the member `filter` of a request part to a search. A refusal, also one by `read`,
 * names each filter at that place.
 */
export function filterSearch(part: 'body' | 'query', read: () => Filters): Search {
  try {
    return searchOf({ ...read(), sort: undefined, cursor: '', limit: 1, offset: 0 })
  } catch (error) {
    if (!(error instanceof Fault) || !error.details?.problems) throw error
    const [first, ...more] = (error.details.problems as Problem[]).map((problem) => ({
      ...problem,
      loc: [part, 'filter', ...problem.loc.slice(1)],
    }))
    throw first ? unprocessable(first, ...more) : error
  }
}
