import type { Dispatched } from '@windlass/testkit/scripted-worker'
import type { ExecutionFixture } from './execution-fixture.ts'

/** Options of a worker whose first checkpoint may be its claim. */
export const CLAIMS_BY_DELIVERY = { features: ['claim_by_delivery'] }

/**
 * Dispatches executions until the frame of one says that its first checkpoint may be the claim: a dispatcher that did
 * not run for a second leaves that out. Returns the frame with the generation of its lease.
 */
export async function repeatUntilDelivered(
  a: ExecutionFixture,
  dispatch: () => Promise<Dispatched>,
): Promise<Dispatched & { generation: number }> {
  for (;;) {
    const frame = await dispatch()
    const { claim } = frame.data
    if (claim) return { ...frame, generation: claim.generation }
    await a.cancel(frame.execution_id)
  }
}
