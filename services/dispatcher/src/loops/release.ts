import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import { MAX_PENDING_RELEASES, markReleased, pendingReleases } from '../store/watch.ts'
import type { Connection } from '../store/workers.ts'

/** The tick wakes the loop each second while a release is pending; this interval covers a tick that fails. */
const PAUSE_MS = 30_000
const CONCURRENCY = 8
const REQUEUE_TIMEOUT_MS = 5_000
/** Each Requeue call returns a part of the work; a worker with more waits for the next round. */
const MAX_PORTIONS = 20

export interface ReleaseDeps {
  db: Db
  executions: Pick<RpcClient<ExecutionsService>, 'requeue'>
  log: Logger
}

/**
 * Returns the work of evicted and replaced workers to the ready queue. `release_generation` stays set
 * until Requeue has been answered, so a failed release is retried in the next round, by any dispatcher.
 */
export function createReleaseLoop(deps: ReleaseDeps): Loop {
  let after_name = ''
  return loop({ name: 'release', pauseMs: PAUSE_MS, log: deps.log }, async () => {
    const connections = await pendingReleases(deps.db, after_name)
    const more = connections.length === MAX_PENDING_RELEASES
    after_name = more ? (connections.at(-1)?.name ?? '') : ''
    const releaseNext = async () => {
      for (let next = connections.pop(); next; next = connections.pop()) await release(deps, next)
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, releaseNext))
    return more
  })
}

async function release(
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
    log.warn({ err: error, worker_name }, 'failed to release work')
  }
}
