import type {
  ActiveWorker,
  ClosedStream,
  FleetService,
} from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { RpcClient } from '@windlass/rpc/client'
import { Batcher } from '@windlass/runtime/batcher'
import { Fault } from '@windlass/runtime/faults'
import type { Logger } from '@windlass/runtime/process/log'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import { callUntilAvailable } from './call-until-available.ts'

/** Far below any `reconnect_grace`; several requests of a worker within this time count once. */
const ACTIVE_INTERVAL_MS = 1_000
const ACTIVE_DELAY_MS = 250
const CLOSED_DELAY_MS = 20
const CONCURRENCY = 2
const MAX_WORKERS = 20_000
/** A report that takes longer is repeated at another dispatcher. */
const CALL_TIMEOUT_MS = 1_000

type WithTime<T> = Omit<T, 'age_ms'> & { at_ms: number }

/**
 * Reports to the dispatchers which workers have closed their streams, and which workers send requests: a
 * worker that left and sends nothing is evicted early. A report that fails only costs time, because the
 * worker is then evicted by its missing pongs.
 */
export class WorkerPresence {
  readonly #fleet: Pick<RpcClient<typeof FleetService>, 'reportPresence'>
  readonly #log: Pick<Logger, 'debug'>
  readonly #reported = new Map<string, number>()
  readonly #closed: Batcher<WithTime<ClosedStream>, undefined>
  readonly #active: Batcher<WithTime<ActiveWorker>, undefined>

  constructor(
    fleet: Pick<RpcClient<typeof FleetService>, 'reportPresence'>,
    log: Pick<Logger, 'debug'>,
  ) {
    this.#fleet = fleet
    this.#log = log
    const options = { concurrency: CONCURRENCY, maxDelayMs: CLOSED_DELAY_MS }
    this.#closed = new Batcher((closed) => this.#report({ closed }), options)
    const seldom = { ...options, maxDelayMs: ACTIVE_DELAY_MS }
    this.#active = new Batcher((active) => this.#report({ active }), seldom)
  }

  /** Reports that a worker closed its connection to this gateway. */
  reportClosed(name: string, connection_generation: number): void {
    const closed = { name, connection_generation, at_ms: performance.now() }
    this.#closed.add(closed).catch((error) => this.#onError(error))
  }

  /** Reports an authenticated request of a worker, at most once per interval. */
  reportActive({ worker_name, session_id }: WorkerIdentity): void {
    const at_ms = performance.now()
    if (at_ms - (this.#reported.get(worker_name) ?? -Infinity) < ACTIVE_INTERVAL_MS) return
    // Losing the entries repeats a few reports, which is harmless.
    if (this.#reported.size >= MAX_WORKERS) this.#reported.clear()
    this.#reported.set(worker_name, at_ms)
    this.#active
      .add({ name: worker_name, session_id, at_ms })
      .catch((error) => this.#onError(error))
  }

  async #report({
    closed = [],
    active = [],
  }: {
    closed?: readonly WithTime<ClosedStream>[]
    active?: readonly WithTime<ActiveWorker>[]
  }): Promise<undefined[]> {
    await callUntilAvailable(() => {
      const now_ms = performance.now()
      const report = { closed: closed.map(aged(now_ms)), active: active.map(aged(now_ms)) }
      return this.#fleet.reportPresence(report, { timeoutMs: CALL_TIMEOUT_MS })
    })
    return []
  }

  #onError(error: unknown): void {
    // A dispatcher of an earlier release does not know the rpc.
    const kind = error instanceof Fault ? error.kind : undefined
    this.#log.debug({ err: error, kind }, 'failed to report the presence of workers')
  }
}

const aged =
  (now_ms: number) =>
  <T extends { at_ms: number }>({ at_ms, ...report }: T) => ({
    ...report,
    age_ms: Math.round(now_ms - at_ms),
  })
