import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import { type RpcClient, UnimplementedRpc } from '@windlass/rpc/client'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import type { Dispatch } from '../dispatch.ts'
import { standingOffers } from '../domain/offers.ts'
import type { Queue } from '../queue.ts'
import type { Sessions } from '../sessions.ts'

const WAIT_MS = 5_000
/** For the answer to a wait that has ended. */
const GRACE_MS = 5_000
const PAUSE_MS = 1_000
/** How long a service is left alone that is older than this one: it may be replaced at any time. */
const OLDER_MS = 30_000

export interface Waiting {
  executions: Pick<RpcClient<ExecutionsService>, 'awaitWork'>
  sessions: Sessions
  queue: Queue
  dispatch: Dispatch
  log: Logger
}

export interface AwaitLoop extends Loop {
  /** What is offered, or whether anything is queued, has changed. */
  revise(): void
}

/**
 * While nothing is queued that they could do, waits at the executions service with what the workers
 * here could do, so that the next work is given to one of them in the moment it is queued. All that it
 * misses comes by nudge.
 */
export function awaitLoop({ executions, sessions, queue, dispatch, log }: Waiting): AwaitLoop {
  let answerNow = new AbortController()
  let isStopping = false
  let start = 0
  let olderUntilMs = Number.NEGATIVE_INFINITY

  const round = async (): Promise<boolean> => {
    answerNow = new AbortController()
    if (performance.now() < olderUntilMs) return false
    if (isStopping || queue.hasHope(sessions) || !dispatch.keepsUp) return false
    const offers = standingOffers(sessions.rotated(start++), queue.recent)
    if (offers.length === 0) return false
    const asked_ms = performance.now()
    const { leases } = await executions.awaitWork(
      { offers, wait_ms: WAIT_MS },
      { timeoutMs: WAIT_MS + GRACE_MS, answerNow: answerNow.signal },
    )
    for (const { execution } of leases)
      sessions.get(execution?.worker_name ?? '')?.load.given(asked_ms)
    dispatch.send(leases)
    return true
  }

  const waiting = loop({ name: 'await work', pauseMs: PAUSE_MS, log }, async () => {
    try {
      return await round()
    } catch (error) {
      if (error instanceof UnimplementedRpc) {
        olderUntilMs = performance.now() + OLDER_MS
        log.info('executions is older than this: work comes by nudge')
        return false
      }
      log.warn({ err: error }, 'work cannot be waited for')
      return false
    }
  })
  const revise = () => {
    answerNow.abort()
    waiting.wake()
  }
  return {
    wake: () => waiting.wake(),
    revise,
    stop() {
      isStopping = true
      revise()
      return waiting.stop()
    },
  }
}
