import { UnimplementedRpc } from '@windlass/rpc/to-fault'
import { unavailable } from '@windlass/runtime/faults'

/** Returns the answer; 503 while a replica of an earlier release does not know the rpc. */
export async function orUpgrade<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof UnimplementedRpc)) throw error
    throw unavailable('executions is of an earlier release: upgrade all of its replicas')
  }
}
