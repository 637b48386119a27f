import { Fault } from '@windlass/runtime/faults'
import { toOutageFault } from '@windlass/runtime/postgres/outage'
import { RpcDenied } from './authorizer.ts'
import { rpcDuration, rpcRequests } from './metrics.ts'

type Outcome = 'ok' | 'refused' | 'unavailable' | 'failed'

/** Counts the calls of a handler and measures their duration. */
export function measured<Args extends unknown[], Result>(
  rpc: string,
  handle: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  const labels = { rpc }
  const byOutcome = {
    ok: { rpc, outcome: 'ok' },
    refused: { rpc, outcome: 'refused' },
    unavailable: { rpc, outcome: 'unavailable' },
    failed: { rpc, outcome: 'failed' },
  }
  return async (...args) => {
    const begunMs = performance.now()
    let outcome: Outcome = 'ok'
    try {
      return await handle(...args)
    } catch (error) {
      outcome = outcomeOf(error)
      throw error
    } finally {
      rpcRequests.add(1, byOutcome[outcome])
      rpcDuration.record((performance.now() - begunMs) / 1_000, labels)
    }
  }
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof RpcDenied) return 'refused'
  const fault = error instanceof Fault ? error : toOutageFault(error)
  if (!fault) return 'failed'
  return fault.kind === 'unavailable' ? 'unavailable' : 'refused'
}
