import { UnimplementedRpc } from '@windlass/rpc/to-fault'
import { type Fault, unavailable } from '@windlass/runtime/faults'

/** Refuses what replicas of an earlier release of a service cannot do. */
export const ofEarlierRelease = (service: string): Fault =>
  unavailable(`${service} is from an earlier release: upgrade all of its replicas`)

/** Returns the answer of a service; 503 while a replica of an earlier release does not know the rpc. */
export async function orUpgrade<T>(answer: Promise<T>, service = 'executions'): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof UnimplementedRpc)) throw error
    throw ofEarlierRelease(service)
  }
}
