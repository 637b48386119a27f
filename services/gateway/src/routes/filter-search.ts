import { Fault, type Problem, unprocessable } from '@windlass/runtime/faults'
import type { z } from 'zod'
import { queryReader } from '../route/query.ts'
import { type Search, searchOf, searchQuery, workflowQuery } from './search-query.ts'

const { sort: _sort, cursor: _cursor, limit: _limit, offset: _offset, ...filters } = searchQuery

/** The filters of `GET /executions`, without its order and pages. */
export const filterQuery = { ...workflowQuery, ...filters }

type Filters = z.output<z.ZodObject<typeof filterQuery>>

/** Reads filters from a query. */
export const readFilters = queryReader(filterQuery)

/**
 * Converts filters in the member `filter` of a request part to a search. A refusal, also one by `read`,
 * names each filter at that place.
 */
export function filterSearch(part: 'body' | 'query', read: () => Filters): Search {
  try {
    return searchBy(read())
  } catch (error) {
    if (!(error instanceof Fault) || !error.details?.problems) throw error
    const [first, ...more] = (error.details.problems as Problem[]).map((problem) => ({
      ...problem,
      loc: [part, 'filter', ...problem.loc.slice(1)],
    }))
    throw first ? unprocessable(first, ...more) : error
  }
}

const searchBy = (filters: Filters): Search =>
  searchOf({ ...filters, sort: undefined, cursor: '', limit: 1, offset: 0 })

const ALL = JSON.stringify(searchBy(readFilters('')))

/** True for a search by filters of which none is given. */
export const isUnfiltered = (search: Search): boolean => JSON.stringify(search) === ALL
