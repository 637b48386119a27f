import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import { type RpcClient, UnimplementedRpc } from '@windlass/rpc/client'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import type { ConnectedWorkers } from '../connected-workers.ts'
import { offersForExpectedWork } from '../domain/offers.ts'
import type { ReadyQueueView } from '../ready-queue-view.ts'
import type { WorkDelivery } from '../work-delivery.ts'

const WAIT_MS = 5_000
/** For the answer to a wait that has ended. */
const REPLY_GRACE_MS = 5_000
const PAUSE_MS = 1_000
/** How long a service is left alone that is older than this one: it may be replaced at any time. */
const UNIMPLEMENTED_PAUSE_MS = 30_000

export interface AwaitWorkDeps {
  executions: Pick<RpcClient<ExecutionsService>, 'awaitWork'>
  workers: ConnectedWorkers
  queue: ReadyQueueView
  delivery: WorkDelivery
  log: Logger
}

export interface AwaitWorkLoop extends Loop {
  /** What is offered, or whether anything is queued, has changed. */
  restart(): void
}

/**
 * While nothing is queued that they could do, waits at the executions service with what the workers
 * here could do, so that the next work is given to one of them in the moment it is queued. All that it
 * misses comes by nudge.
 */
export function createAwaitWorkLoop({
  executions,
  workers,
  queue,
  delivery,
  log,
}: AwaitWorkDeps): AwaitWorkLoop {
  let answerNow = new AbortController()
  let isStopping = false
  let start = 0
  let unimplementedUntilMs = Number.NEGATIVE_INFINITY

  const waitOnce = async (): Promise<boolean> => {
    answerNow = new AbortController()
    if (performance.now() < unimplementedUntilMs) return false
    if (isStopping || queue.hasMatchableWork(workers) || !delivery.hasCapacity) return false
    const offers = offersForExpectedWork(workers.iterateFrom(start++), queue.recentRequirements)
    if (offers.length === 0) return false
    const started_ms = performance.now()
    const { leases } = await executions.awaitWork(
      { offers, wait_ms: WAIT_MS },
      { timeoutMs: WAIT_MS + REPLY_GRACE_MS, answerNow: answerNow.signal },
    )
    for (const { execution } of leases)
      workers.get(execution?.worker_name ?? '')?.load.addAssigned(started_ms)
    delivery.send(leases)
    return true
  }

  const waitLoop = loop({ name: 'await work', pauseMs: PAUSE_MS, log }, async () => {
    try {
      return await waitOnce()
    } catch (error) {
      if (error instanceof UnimplementedRpc) {
        unimplementedUntilMs = performance.now() + UNIMPLEMENTED_PAUSE_MS
        log.info('executions is older than this: work comes by nudge')
        return false
      }
      log.warn({ err: error }, 'work cannot be waited for')
      return false
    }
  })
  const restart = () => {
    answerNow.abort()
    waitLoop.wake()
  }
  return {
    wake: () => waitLoop.wake(),
    restart,
    stop() {
      isStopping = true
      restart()
      return waitLoop.stop()
    },
  }
}
