import { listExecutions } from '../api/executions.ts'
import { COUNTS, FAILED_LATELY, QUEUE } from '../api/intervals.ts'
import { type Queue, readQueue } from '../api/queue.ts'
import type { Query } from '../api/server.ts'
import { serverNow } from '../api/server-clock.ts'
import type { Load } from '../api/shared-reading.ts'
import { type Answer, useQuery } from '../api/use-query.ts'
import { lists, queueChanges } from '../live/feed.ts'
import { failedLately, type Total } from './counts.ts'

const readTotal = (query: Query, ...read: Parameters<Load<Total>>): Promise<Total> =>
  listExecutions({ ...query, limit: '1' }, ...read)

/** Number of executions in a state. */
export const useTotal = (state: string): Answer<Total> =>
  useQuery(`count ${state}`, (...read) => readTotal({ state }, ...read), {
    ...COUNTS,
    live: lists.executions,
  })

/** Number of executions that failed in the last hour. */
export const useFailedLately = (): Answer<Total> =>
  useQuery('failed in the last hour', (...read) => readTotal(failedLately(serverNow()), ...read), {
    ...FAILED_LATELY,
    live: lists.executions,
  })

/** Executions that wait for a worker, by what they need. */
export const useQueue = (): Answer<Queue> =>
  useQuery('queue', readQueue, { ...QUEUE, live: queueChanges })
