import type { FleetService, PongRequest } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { RpcClient } from '@windlass/rpc/client'
import { batchOrEach, type Settled } from '@windlass/runtime/batch-or-each'
import { Batcher } from '@windlass/runtime/batcher'
import { Fault, type Kind } from '@windlass/runtime/faults'
import { callUntilAvailable } from './call-until-available.ts'

/**
 * Two calls in flight, so that a dispatcher that hangs does not delay pongs that another one would accept.
 */
const CONCURRENCY = 2
/** A call costs more than its content, and pongs are not urgent. */
const MAX_DELAY_MS = 50
/** Far below the silence after which a worker is evicted. */
const CALL_TIMEOUT_MS = 3_000

/**
 * Sends pongs to a dispatcher in batches: those that arrive within MAX_DELAY_MS or during a call share the
 * next one.
 */
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

  /** Resolves once the pong is accepted; throws the refusal of this one. */
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
