import type {
  ExecutionsService,
  LeaseResponse,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import type { Dispatch } from '../dispatch.ts'
import { asksForMetrics } from '../domain/facts.ts'
import { drained, hopeful, offersFor, selectorsAmong } from '../domain/offers.ts'
import type { Queue } from '../queue.ts'
import type { Sessions } from '../sessions.ts'
import * as streams from '../store/streams.ts'

const FLOOR_MS = 1_000
const MAX_LEASES = 256

export interface Leasing {
  db: Db
  executions: Pick<RpcClient<ExecutionsService>, 'lease' | 'listReady'>
  sessions: Sessions
  queue: Queue
  dispatch: Dispatch
  /** What is queued is known anew. */
  looked(): void
  log: Logger
}

/**
 * Gives queued work to the workers here: one lease under way at most, and nudges that come
 * meanwhile make one more round. Once a second it looks by itself, and then offers every worker
 * that can do what is queued, whatever is believed of its load.
 */
export function leaseLoop(leasing: Leasing): Loop {
  /** Looks in between, at requirements that are new here, do not put the next one off. */
  let flooredAtMs = Number.NEGATIVE_INFINITY
  const turn = { start: 0 }

  const round = async (): Promise<boolean> => {
    const { sessions, queue, dispatch } = leasing
    if (sessions.size === 0 || !dispatch.keepsUp) return false
    const now_ms = performance.now()
    const floor = now_ms - flooredAtMs >= FLOOR_MS
    if (floor) flooredAtMs = now_ms
    if (floor || queue.puzzled) await look(leasing)
    const more = await lease(leasing, turn, floor)
    leasing.looked()
    return more
  }

  return loop({ name: 'lease', pauseMs: FLOOR_MS, log: leasing.log }, async () => {
    try {
      return await round()
    } catch (error) {
      // Not thrown on: the loop would pause ever longer, and work must flow a second after the outage.
      leasing.log.warn({ err: error }, 'no work can be leased')
      return false
    }
  })
}

async function look({ executions, queue }: Leasing): Promise<void> {
  const mark = queue.mark
  const { requirements } = await executions.listReady({ known_ids: queue.knownIds })
  queue.listed(requirements, mark)
}

/** Answers whether there is more to be had at once. */
async function lease(leasing: Leasing, turn: { start: number }, regardless: boolean) {
  const { executions, sessions, queue, dispatch } = leasing
  const mark = queue.mark
  const needs = hopeful(queue.needs, sessions, sessions.fleet)
  if (asksForMetrics(selectorsAmong(needs))) await measure(leasing)
  const offers = offersFor(sessions.rotated(turn.start), needs, { regardless })
  if (offers.length === 0) return false
  turn.start += offers.length
  for (const { worker_name } of offers) sessions.get(worker_name)?.load.asked()
  const answer = await executions.lease({ offers, limit: MAX_LEASES })
  settle(sessions, answer)
  if (!answer.more) queue.emptied(drained(offers, answer.loads), mark)
  dispatch.send(answer.leases)
  // All that it looked at may have been for full workers; from now on they are known to be full.
  return answer.more && (regardless || answer.leases.length > 0)
}

/** Policies rank by metrics that another dispatcher may have heard of: so they are read, for all workers here. */
async function measure({ db, sessions }: Leasing): Promise<void> {
  const rows = await streams.metrics(
    db,
    [...sessions].map(({ name }) => name),
  )
  for (const { name, metrics } of rows) {
    const session = sessions.get(name)
    if (session) session.metrics = JSON.parse(metrics)
  }
}

function settle(sessions: Sessions, { loads }: LeaseResponse): void {
  const now_ms = performance.now()
  for (const { worker_name, used } of loads) sessions.get(worker_name)?.load.counted(used, now_ms)
}
