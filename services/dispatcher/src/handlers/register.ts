import type {
  RegisterRequest,
  RegisterResponse,
} from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { notFound } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Loop } from '@windlass/runtime/process/loop'
import { resolveNameClaim } from '../domain/name-claim.ts'
import { requireValidWorker } from '../domain/registration.ts'
import { publishWorkerSignal } from '../engine/publish-signal.ts'
import type { WorkerRegistrySync } from '../engine/registry-sync.ts'
import * as records from '../store/records.ts'
import * as workers from '../store/workers.ts'

export interface RegisterDeps {
  db: Db
  bus: Bus
  registry: WorkerRegistrySync
  releases: Pick<Loop, 'wake'>
}

/** Registers a worker: resolves the claim to its name, stores its record, and returns its session. */
export async function register(
  { db, bus, registry, releases }: RegisterDeps,
  request: RegisterRequest,
): Promise<RegisterResponse> {
  const worker = requireValidWorker(request)
  const { name } = worker
  const { replaced, stored } = await db.tx(async (tx) => {
    const replaced = await acquireName(tx, request, name)
    return { replaced, stored: await records.save(tx, worker, request) }
  })

  if (replaced !== undefined) {
    const value = { connection_generation: replaced }
    publishWorkerSignal(bus, name, { $case: 'superseded', value })
    releases.wake()
  }
  registry.refresh(name)
  publishWorkerSignal(bus, name, { $case: 'revised', value: {} })
  return { worker: stored, session_id: stored.session_id }
}

/** Acquires the name or throws `conflict`; returns the new generation if another process held it. */
async function acquireName(
  tx: Tx,
  request: RegisterRequest,
  name: string,
): Promise<number | undefined> {
  const { instance, proven_session_id, reconnect_grace, renewal } = request
  const fresh = { name, instance, session_id: newId(), reconnect_grace }
  if (await workers.claimName(tx, fresh)) return undefined
  const holder = await workers.lockHolder(tx, name)
  if (!holder) throw notFound('Worker', name)
  if (resolveNameClaim(holder, { name, instance, proven_session_id, renewal }) === 'keep_session') {
    await workers.renewRegistration(tx, fresh)
    return undefined
  }
  return await workers.replaceSession(tx, fresh)
}
