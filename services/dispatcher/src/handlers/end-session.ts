import { newId } from '@windlass/runtime/ids'
import { publishWorkerSignal } from '../engine/publish-signal.ts'
import { endSession as storeEnd } from '../store/workers.ts'
import type { RegisterDeps } from './register.ts'

/** Ends the session of a worker: its stream closes at every dispatcher and its work is released. */
export async function endSession({ db, bus, releases }: RegisterDeps, name: string): Promise<void> {
  const connection_generation = await db.tx((tx) => storeEnd(tx, name, newId()))
  if (connection_generation === undefined) return
  publishWorkerSignal(bus, name, { $case: 'evicted', value: { connection_generation } })
  releases.wake()
}
