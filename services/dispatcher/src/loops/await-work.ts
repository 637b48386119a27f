import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import { UnimplementedRpc } from '@windlass/rpc/to-fault'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import { offersForExpectedWork } from '../domain/offers.ts'
import type { ConnectedWorkers } from '../engine/connected-workers.ts'
import type { ReadyQueueView } from '../engine/ready-queue-view.ts'
import type { WorkDelivery } from '../engine/work-delivery.ts'

const WAIT_MS = 5_000
/** Time allowed for the answer after the wait has ended. */
const REPLY_GRACE_MS = 5_000
const PAUSE_MS = 1_000
/** Pause after a call to a replica that has no AwaitWork; a rolling update may replace it at any time. */
const UNIMPLEMENTED_PAUSE_MS = 30_000

export interface AwaitWorkDeps {
  executions: Pick<RpcClient<ExecutionsService>, 'awaitWork'>
  workers: ConnectedWorkers
  queue: ReadyQueueView
  delivery: WorkDelivery
  log: Logger
}

export interface AwaitWorkLoop extends Loop {
  /** Ends the current wait and starts another: the offers or the ready queue have changed. */
  restart(): void
}

/**
 * Long poll for work (ADR 13). While no matchable work is queued, keeps one AwaitWork call open with
 * offers of workers that have free slots: an execution that is created meanwhile is leased to one of
 * them in the commit that creates it. Work that misses the wait is announced by a wake-up.
 */
export function createAwaitWorkLoop(deps: AwaitWorkDeps): AwaitWorkLoop {
  const { executions, workers, queue, delivery, log } = deps
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
        log.info('long poll unavailable: executions has no AwaitWork; using wake-ups')
        return false
      }
      log.warn({ err: error }, 'failed to wait for work')
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
