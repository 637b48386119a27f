import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import { emit } from '@windlass/runtime/postgres/outbox'
import type { Logger } from '@windlass/runtime/process/log'
import { divideCandidates } from '../domain/departures.ts'
import { publishWorkerSignal } from '../engine/publish-signal.ts'
import { evictions } from '../metrics.ts'
import * as departures from '../store/departure-rows.ts'
import * as watch from '../store/watch.ts'
import type { Connection, Evicted } from '../store/workers.ts'

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
export const evict = (deps: EvictDeps): Promise<number> =>
  evictWith(deps, 'silent', (tx) => watch.evict(tx, deps.eviction_after_ms / 1_000, BATCH))

/** Evicts a batch of workers that closed their streams and did not return (domain/departures.ts). */
export async function evictDeparted(deps: EvictDeps): Promise<number> {
  const names = await departures.candidates(deps.db, BATCH)
  const fleet = await departures.readDepartures(deps.db, names)
  const { lost, together } = divideCandidates(names, fleet)
  if (together.length > 0) {
    await deps.db.tx((tx) => departures.leaveToTimeout(tx, together))
    deps.log.info({ count: together.length }, 'workers disconnected together')
  }
  return lost.length === 0
    ? 0
    : evictWith(deps, 'departed', (tx) => departures.evictDeparted(tx, lost))
}

async function evictWith(
  { db, bus, log }: EvictDeps,
  reason: 'silent' | 'departed',
  select: (tx: Tx) => Promise<Evicted[]>,
): Promise<number> {
  const evicted = await db.tx(async (tx) => {
    const gone = await select(tx)
    await Promise.all(
      lostConnections(gone).map(({ name: worker_name, connection_generation }) =>
        emit(
          tx,
          { source: 'dispatcher', key: worker_name },
          {
            $case: 'worker_evicted',
            value: { worker_name, connection_generation },
          },
        ),
      ),
    )
    return gone
  })
  for (const { name, connection_generation } of evicted) {
    log.info({ worker_name: name, connection_generation }, 'worker evicted')
    publishWorkerSignal(bus, name, { $case: 'evicted', value: { connection_generation } })
  }
  if (evicted.length > 0) evictions.add(evicted.length, { reason })
  return evicted.length
}

/** Lost connections; a worker that was never connected has none and held no work. */
const lostConnections = (evicted: readonly Evicted[]): Connection[] =>
  evicted.flatMap(({ name, release_generation }) =>
    release_generation === undefined ? [] : { name, connection_generation: release_generation },
  )
