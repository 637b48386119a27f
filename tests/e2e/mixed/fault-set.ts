import { setTimeout as pause } from 'node:timers/promises'
import type { Process } from '@windlass/testkit/process'
import type { Service, System } from '@windlass/testkit/system'
import type { WorkerPool } from './worker-pool.ts'

/** What the run may break beside the system's own processes. */
export interface Stores {
  nats: { kill(): Promise<unknown>; wipe(): Promise<unknown>; start(): Promise<unknown> }
  crashPostgres(): Promise<unknown>
  flushRedis(): Promise<unknown>
}

/** A fault and its end: each leaves everything running. */
type Fault = () => Promise<unknown>

const AWAY_MS = 1_000
const STOPPED_MS = 2_000
const AGAIN_MS = 200

/** It ends again if PostgreSQL is not back yet: whoever runs services starts them anew. */
async function startedAgain(process: Process): Promise<void> {
  for (let isUp = false; !isUp; ) {
    isUp = await process.start().then(
      () => true,
      () => pause(AGAIN_MS, false),
    )
  }
}

/** Everything that can go wrong, by name. `any` draws one of several. */
export function faultsOf(
  system: System,
  { nats, crashPostgres, flushRedis }: Stores,
  crew: WorkerPool,
  any: <T>(all: readonly T[]) => T,
): Map<string, Fault> {
  const one = (service: Service) => any(system.of(service)) as Process
  const killed =
    (service: Service): Fault =>
    async () => {
      const process = one(service)
      await process.end('SIGKILL')
      await startedAgain(process)
    }
  const stopped =
    (service: Service): Fault =>
    async () => {
      const process = one(service)
      process.signal('SIGSTOP')
      await pause(STOPPED_MS)
      process.signal('SIGCONT')
    }
  const services = ['executions', 'dispatcher', 'gateway', 'catalog', 'identity'] as const
  const away = async () => {
    await nats.kill()
    await pause(AWAY_MS)
    await nats.wipe()
    await nats.start()
  }
  return new Map<string, Fault>([
    ...services.map((service): [string, Fault] => [`kill ${service}`, killed(service)]),
    ...services
      .slice(0, 3)
      .map((service): [string, Fault] => [`stop ${service}`, stopped(service)]),
    ['NATS away', away],
    ['PostgreSQL crashes', crashPostgres],
    ['Redis forgets', flushRedis],
    ['kill worker', () => crew.replace()],
    ['worker hangs', () => crew.hang(STOPPED_MS)],
  ])
}
