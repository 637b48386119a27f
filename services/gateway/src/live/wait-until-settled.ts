import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { LogGrew } from '@windlass/proto/windlass/signals/v1/signals'
import { Fault } from '@windlass/runtime/faults'
import type { ExecutionsClient } from '../clients/executions.ts'
import type { ExecutionSubscriptions } from './execution-subscriptions.ts'

export interface LiveDeps {
  executions: ExecutionsClient
  subscriptions: ExecutionSubscriptions
}

interface WaitOptions {
  execution_id: string
  /** Starts the change whose end is awaited. */
  change(): Promise<{ execution: Execution }>
  isDone(state: string): boolean
  /** Absent: no limit. */
  timeoutMs: number | undefined
  signal: AbortSignal
}

/**
 * Makes a change; resolves to the execution once it is done, or as it is when the time is up. The
 * change does not wait for the subscription: if it is answered before that is confirmed, the row is
 * read once more, so the end is found in the row or signalled.
 */
export async function changeAndWait(
  { executions, subscriptions }: LiveDeps,
  wait: WaitOptions,
): Promise<Execution> {
  const { execution_id, change, isDone, timeoutMs, signal } = wait
  const latest = new LatestSignal()
  let isSubscribed = false
  const subscribing = subscriptions.settled
    .subscribe(execution_id, (grew) => latest.receive(grew))
    .then((stop) => {
      isSubscribed = true
      return stop
    })
  const leave = () => latest.fail(stillRunning(execution_id, signal.reason))
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => latest.timeOut(), timeoutMs)
  signal.addEventListener('abort', leave)
  try {
    let { execution } = await change()
    // Signals may have been sent before the subscription was confirmed.
    if (!isSubscribed) {
      await subscribing
      execution = await executions.get(execution_id)
    }
    for (;;) {
      if (signal.aborted) throw stillRunning(execution_id, signal.reason)
      if (isDone(execution.state)) return execution
      const received = await latest.waitFor(execution.last_seq, isDone)
      if (received?.ended) return { ...received.ended, input_json: execution.input_json }
      execution = await executions.get(execution_id)
      if (!received) return execution
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
    void subscribing.then(
      (stop) => stop(),
      () => {},
    )
  }
}

/** The wait ends but the execution runs on; a client that can still read the response gets its id. */
const stillRunning = (execution_id: string, reason: Error) =>
  new Fault(reason instanceof Fault ? reason.kind : 'unavailable', reason.message, {
    details: { execution_id },
  })

/** The newest signal, and a wait for one that matches. */
class LatestSignal {
  #last: LogGrew | undefined
  #isTimedOut = false
  #failure: Fault | undefined
  #wake: () => void = () => {}

  receive(grew: LogGrew): void {
    if (this.#last && grew.last_seq <= this.#last.last_seq) return
    this.#last = grew
    this.#wake()
  }

  timeOut(): void {
    this.#isTimedOut = true
    this.#wake()
  }

  fail(failure: Fault): void {
    this.#failure = failure
    this.#wake()
  }

  /** Resolves to a wanted signal newer than `seq`; to undefined when the time is up. */
  async waitFor(seq: number, isWanted: (state: string) => boolean): Promise<LogGrew | undefined> {
    for (;;) {
      if (this.#failure) throw this.#failure
      if (this.#last && this.#last.last_seq > seq && isWanted(this.#last.state)) return this.#last
      if (this.#isTimedOut) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
