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
/** An answer that comes this long after the wait has ended was held up: its leases may end soon. */
const LATE_MS = 1_000
const PAUSE_MS = 1_000
/**
 * Number of long polls. While one has been answered and the next is on its way, work is created too: with one poll
 * and eight executions in flight, 35 % of them were leased by a call and a commit of their own (bench/README.md).
 */
const POLLS = 2
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
 * Long polls for work (ADR 13). While no matchable work is queued, keeps AwaitWork calls open with offers of
 * workers that have free slots: an execution that is created meanwhile is leased to one of them in the commit
 * that creates it. Work that misses the polls is announced by a wake-up.
 */
export function createAwaitWorkLoop(deps: AwaitWorkDeps): AwaitWorkLoop {
  const { executions, workers, queue, delivery, log } = deps
  let start = 0
  let unimplementedUntilMs = Number.NEGATIVE_INFINITY
  const isUnimplemented = () => performance.now() < unimplementedUntilMs

  const awaitWork = async (answerNow: AbortSignal): Promise<boolean> => {
    if (isUnimplemented() || queue.hasMatchableWork(workers) || !delivery.hasCapacity) return false
    const offers = offersForExpectedWork(workers.iterateFrom(start++), queue.recentRequirements)
    if (offers.length === 0) return false
    const started_ms = performance.now()
    const { leases } = await executions.awaitWork(
      { offers, wait_ms: WAIT_MS },
      { timeoutMs: WAIT_MS + REPLY_GRACE_MS, answerNow },
    )
    for (const { execution } of leases)
      workers.get(execution?.worker_name ?? '')?.load.addAssigned(started_ms)
    const waitedMs = performance.now() - started_ms
    delivery.send(leases, { isLate: waitedMs > WAIT_MS + LATE_MS })
    return true
  }

  const pollOnce = async (answerNow: AbortSignal): Promise<boolean> => {
    try {
      return await awaitWork(answerNow)
    } catch (error) {
      if (!(error instanceof UnimplementedRpc)) {
        log.warn({ err: error }, 'failed to wait for work')
      } else if (!isUnimplemented()) {
        unimplementedUntilMs = performance.now() + UNIMPLEMENTED_PAUSE_MS
        log.info('long poll unavailable: executions has no AwaitWork; using wake-ups')
      }
      return false
    }
  }

  const polls = Array.from({ length: POLLS }, () => createPoll(log, pollOnce))
  return {
    wake() {
      for (const poll of polls) poll.wake()
    },
    restart() {
      for (const poll of polls) poll.restart()
    },
    stop: async () => void (await Promise.all(polls.map((poll) => poll.stop()))),
  }
}

/** Repeats `pollOnce`, whose signal aborts when its call should be answered at once. */
function createPoll(
  log: Logger,
  pollOnce: (answerNow: AbortSignal) => Promise<boolean>,
): AwaitWorkLoop {
  let answerNow = new AbortController()
  let isStopping = false
  const polling = loop({ name: 'await work', pauseMs: PAUSE_MS, log }, async () => {
    answerNow = new AbortController()
    return !isStopping && pollOnce(answerNow.signal)
  })
  const restart = () => {
    answerNow.abort()
    polling.wake()
  }
  return {
    wake: () => polling.wake(),
    restart,
    stop() {
      isStopping = true
      restart()
      return polling.stop()
    },
  }
}
