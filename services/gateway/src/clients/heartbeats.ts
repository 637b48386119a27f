import type { FleetService, PongRequest } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { RpcClient } from '@windlass/rpc/client'
import { Batcher } from '@windlass/runtime/batcher'
import { Fault, type Kind } from '@windlass/runtime/faults'
import { orAlone, persistently } from './batches.ts'

type Outcome = { value: Fault | undefined } | { error: unknown }

/** Two, so that a dispatcher that hangs does not hold up what another one would take. */
const LANES = 2
/** A call costs more than what it carries, and a pong is in no hurry. */
const WAIT_MS = 50
/** Far below the silence that has a worker evicted. */
const CALL_MS = 3_000

/** Heartbeat answers on their way to a dispatcher: those that come shortly after one another, or while a call is under way, go together. */
export class Pongs {
  readonly #fleet: Pick<RpcClient<typeof FleetService>, 'pongs'>
  readonly #gather: Batcher<PongRequest, Outcome>

  constructor(fleet: Pick<RpcClient<typeof FleetService>, 'pongs'>) {
    this.#fleet = fleet
    this.#gather = new Batcher((pongs) => orAlone(pongs, (some) => this.#send(some)), {
      concurrency: LANES,
      maxDelayMs: WAIT_MS,
    })
  }

  /** Resolves once it was taken, or throws why this one was refused. */
  async take(pong: PongRequest): Promise<void> {
    const outcome = await this.#gather.add(pong)
    if ('error' in outcome) throw outcome.error
    if (outcome.value) throw outcome.value
  }

  async #send(pongs: readonly PongRequest[]): Promise<(Fault | undefined)[]> {
    const request = { pongs: [...pongs] }
    const call = () => this.#fleet.pongs(request, { timeoutMs: CALL_MS })
    const { refusals } = await persistently(call)
    const answers = new Array<Fault | undefined>(pongs.length).fill(undefined)
    for (const { index, kind, message } of refusals)
      answers[index] = new Fault(kind as Kind, message)
    return answers
  }
}
