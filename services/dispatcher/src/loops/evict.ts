import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import { emit } from '@windlass/runtime/postgres/outbox'
import type { Logger } from '@windlass/runtime/process/log'
import { publishWorkerSignal } from '../publish-signal.ts'
import * as watch from '../store/watch.ts'
import type { Connection } from '../store/workers.ts'

const BATCH = 100

export interface EvictDeps {
  db: Db
  bus: Bus
  log: Logger
  eviction_after_ms: number
}

/**
 * Evicts a batch of silent workers in one transaction with their `worker_evicted` events; returns their
 * number. domain/eviction-guard.ts explains when this may run.
 */
export async function evict({ db, bus, log, eviction_after_ms }: EvictDeps): Promise<number> {
  const evicted = await db.tx(async (tx) => {
    const gone = await watch.evict(tx, eviction_after_ms / 1_000, BATCH)
    await Promise.all(
      lostConnections(gone).map(({ name: worker_name, connection_generation }) =>
        emit(tx, 'dispatcher', worker_name, {
          $case: 'worker_evicted',
          value: { worker_name, connection_generation },
        }),
      ),
    )
    return gone
  })
  for (const { name, connection_generation } of evicted) {
    log.info({ worker_name: name, connection_generation }, 'worker evicted')
    publishWorkerSignal(bus, name, { $case: 'evicted', value: { connection_generation } })
  }
  return evicted.length
}

/** Lost connections; a worker that was never connected has none and held no work. */
const lostConnections = (evicted: readonly watch.Evicted[]): Connection[] =>
  evicted.flatMap(({ name, release_generation }) =>
    release_generation === undefined ? [] : { name, connection_generation: release_generation },
  )
