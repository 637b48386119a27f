import type { FleetService, PongRequest } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { RpcClient } from '@windlass/rpc/client'
import { batchOrEach, type Settled } from '@windlass/runtime/batch-or-each'
import { Batcher } from '@windlass/runtime/batcher'
import { Fault, type Kind } from '@windlass/runtime/faults'
import { callUntilAvailable } from './call-until-available.ts'

/** Two, so that a dispatcher that hangs does not hold up what another one would take. */
const CONCURRENCY = 2
/** A call costs more than what it carries, and a pong is in no hurry. */
const MAX_DELAY_MS = 50
/** Far below the silence that has a worker evicted. */
const CALL_TIMEOUT_MS = 3_000

/** Heartbeat answers on their way to a dispatcher: those that come shortly after one another, or while a call is under way, go together. */
export class HeartbeatClient {
  readonly #fleet: Pick<RpcClient<typeof FleetService>, 'pongs'>
  readonly #batcher: Batcher<PongRequest, Settled<Fault | undefined>>

  constructor(fleet: Pick<RpcClient<typeof FleetService>, 'pongs'>) {
    this.#fleet = fleet
    this.#batcher = new Batcher((pongs) => batchOrEach(pongs, (some) => this.#sendBatch(some)), {
      concurrency: CONCURRENCY,
      maxDelayMs: MAX_DELAY_MS,
    })
  }

  /** Resolves once it was taken, or throws why this one was refused. */
  async send(pong: PongRequest): Promise<void> {
    const outcome = await this.#batcher.add(pong)
    if ('error' in outcome) throw outcome.error
    if (outcome.value) throw outcome.value
  }

  async #sendBatch(pongs: readonly PongRequest[]): Promise<(Fault | undefined)[]> {
    const request = { pongs: [...pongs] }
    const call = () => this.#fleet.pongs(request, { timeoutMs: CALL_TIMEOUT_MS })
    const { refusals } = await callUntilAvailable(call)
    const answers = new Array<Fault | undefined>(pongs.length).fill(undefined)
    for (const { index, kind, message } of refusals)
      answers[index] = new Fault(kind as Kind, message)
    return answers
  }
}
