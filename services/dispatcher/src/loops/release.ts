import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import { MAX_PENDING_RELEASES, markReleased, pendingReleases } from '../store/watch.ts'
import type { Connection } from '../store/workers.ts'

/** The tick pokes each second while anything is owed; this is only for a tick that fails. */
const PAUSE_MS = 30_000
const CONCURRENCY = 8
const REQUEUE_TIMEOUT_MS = 5_000
/** Work is returned in portions until none is left. */
const MAX_PORTIONS = 20

export interface ReleaseDeps {
  db: Db
  executions: Pick<RpcClient<ExecutionsService>, 'requeue'>
  log: Logger
}

/** Returns the work of lost workers to the queue. What fails is passed over, and tried again in the next turn. */
export function createReleaseLoop(deps: ReleaseDeps): Loop {
  let after_name = ''
  return loop({ name: 'release', pauseMs: PAUSE_MS, log: deps.log }, async () => {
    const connections = await pendingReleases(deps.db, after_name)
    const more = connections.length === MAX_PENDING_RELEASES
    after_name = more ? (connections.at(-1)?.name ?? '') : ''
    const releaseNext = async () => {
      for (let next = connections.pop(); next; next = connections.pop())
        await releaseConnection(deps, next)
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, releaseNext))
    return more
  })
}

async function releaseConnection(
  { db, executions, log }: ReleaseDeps,
  connection: Connection,
): Promise<void> {
  const { name: worker_name, connection_generation } = connection
  const request = { worker_name, connection_generation, died: true }
  try {
    let count = 0
    for (let portion = 0; portion < MAX_PORTIONS; portion++) {
      const { requeued } = await executions.requeue(request, { timeoutMs: REQUEUE_TIMEOUT_MS })
      if (requeued === 0) break
      count += requeued
    }
    await markReleased(db, connection)
    log.info({ worker_name, connection_generation, count }, 'work released')
  } catch (error) {
    log.warn({ err: error, worker_name }, 'work is not released yet')
  }
}
