import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import { MAX_OWING, owing, released } from '../store/watch.ts'
import type { Connection } from '../store/workers.ts'

/** The tick pokes each second while anything is owed; this is only for a tick that fails. */
const PAUSE_MS = 30_000
const LANES = 8
const REQUEUE_MS = 5_000
/** Work is returned in portions until none is left. */
const MAX_PORTIONS = 20

export interface Releasing {
  db: Db
  executions: Pick<RpcClient<ExecutionsService>, 'requeue'>
  log: Logger
}

/** Returns the work of lost workers to the queue. What fails is passed over, and tried again in the next turn. */
export function releaseLoop(releasing: Releasing): Loop {
  let after_name = ''
  return loop({ name: 'release', pauseMs: PAUSE_MS, log: releasing.log }, async () => {
    const connections = await owing(releasing.db, after_name)
    const more = connections.length === MAX_OWING
    after_name = more ? (connections.at(-1)?.name ?? '') : ''
    const lane = async () => {
      for (let next = connections.pop(); next; next = connections.pop())
        await release(releasing, next)
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    return more
  })
}

async function release({ db, executions, log }: Releasing, connection: Connection): Promise<void> {
  const { name: worker_name, connection_generation } = connection
  const request = { worker_name, connection_generation, died: true }
  try {
    let count = 0
    for (let portion = 0; portion < MAX_PORTIONS; portion++) {
      const { requeued } = await executions.requeue(request, { timeoutMs: REQUEUE_MS })
      if (requeued === 0) break
      count += requeued
    }
    await released(db, connection)
    log.info({ worker_name, connection_generation, count }, 'work released')
  } catch (error) {
    log.warn({ err: error, worker_name }, 'work is not released yet')
  }
}
