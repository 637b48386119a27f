import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { LogGrew } from '@windlass/proto/windlass/signals/v1/signals'
import { Fault } from '@windlass/runtime/faults'
import type { ChangedExecution, ExecutionsClient } from '../clients/executions-client.ts'
import type { ExecutionSubscriptions } from './execution-subscriptions.ts'

export interface LiveDeps {
  executions: ExecutionsClient
  subscriptions: ExecutionSubscriptions
}

interface WaitOptions {
  execution_id: string
  /** Submits the change whose result is awaited. */
  change(): Promise<Pick<ChangedExecution, 'execution' | 'reply_to'>>
  isDone(state: string): boolean
  /** Absent: no limit. */
  timeoutMs: number | undefined
  signal: AbortSignal
}

/**
 * Submits a change; resolves to the execution once it is done, or as it is when the time is up. An
 * execution that was created with the name of this process signals its end on the subject of the process.
 * For any other execution, this subscribes after the change and reads the row once more when the
 * subscription is confirmed, so the end is either in the row or signalled.
 */
export async function changeAndWait(
  { executions, subscriptions }: LiveDeps,
  wait: WaitOptions,
): Promise<Execution> {
  const { execution_id, change, isDone, timeoutMs, signal } = wait
  const latest = new LatestSignal()
  const receive = (grew: LogGrew) => latest.receive(grew)
  const stops: (() => void)[] = [subscriptions.replies.add(execution_id, receive)]
  const leave = () => latest.fail(stillRunning(execution_id, signal.reason))
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => latest.timeOut(), timeoutMs)
  signal.addEventListener('abort', leave)
  try {
    const { execution, reply_to } = await change()
    if (reply_to === subscriptions.replies.name || isDone(execution.state))
      return await waitUntilDone(executions, latest, execution, wait)
    stops.push(await subscriptions.settled.subscribe(execution_id, receive))
    return await waitUntilDone(executions, latest, await executions.get(execution_id), wait)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
    for (const stop of stops) stop()
  }
}

async function waitUntilDone(
  executions: ExecutionsClient,
  latest: LatestSignal,
  first: Execution,
  { execution_id, isDone, signal }: WaitOptions,
): Promise<Execution> {
  for (let execution = first; ; ) {
    if (signal.aborted) throw stillRunning(execution_id, signal.reason)
    if (isDone(execution.state)) return execution
    const received = await latest.waitFor(execution.last_seq, isDone)
    if (received?.ended) return { ...received.ended, input_json: execution.input_json }
    execution = await executions.get(execution_id)
    if (!received) return execution
  }
}

/** The wait ends but the execution continues; a client that can still read the response gets its id. */
const stillRunning = (execution_id: string, reason: Error) =>
  new Fault(reason instanceof Fault ? reason.kind : 'unavailable', reason.message, {
    details: { execution_id },
  })

/** The newest signal, with a wait for one that matches. */
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
