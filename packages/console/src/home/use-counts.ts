import { listExecutions } from '../api/executions.ts'
import { type Queue, readQueue } from '../api/queue.ts'
import type { Query } from '../api/server.ts'
import { serverNow } from '../api/server-clock.ts'
import { type Answer, useQuery } from '../api/use-query.ts'
import { lists, queueChanges } from '../live/feed.ts'
import { failedLately, type Total } from './counts.ts'

const EVERY_MS = 3_000
const SLOW_MS = 10_000
/** A range up to now moves without an event. */
const MOVES_MS = 60_000

const readTotal = (query: Query, signal: AbortSignal): Promise<Total> =>
  listExecutions({ ...query, limit: '1' }, signal)

/** Number of executions in a state. */
export const useTotal = (state: string): Answer<Total> =>
  useQuery(`count ${state}`, (signal) => readTotal({ state }, signal), {
    every: EVERY_MS,
    live: lists.executions,
  })

/** Number of executions that failed in the last hour. */
export const useFailedLately = (): Answer<Total> =>
  useQuery('failed in the last hour', (signal) => readTotal(failedLately(serverNow()), signal), {
    every: EVERY_MS,
    everyWhileLive: MOVES_MS,
    live: lists.executions,
  })

/** Executions that wait for a worker, by what they need. */
export const useQueue = (): Answer<Queue> =>
  useQuery('queue', readQueue, { every: SLOW_MS, live: queueChanges })
