import { setTimeout as pause } from 'node:timers/promises'
import type { Process } from '@windlass/testkit/process'
import type { System } from '@windlass/testkit/system'
import type { Service } from '@windlass/testkit/system-processes'
import type { WorkerPool } from './worker-pool.ts'

/** Stores that the run may break in addition to the processes of the system. */
export interface Stores {
  nats: { kill(): Promise<unknown>; wipe(): Promise<unknown>; start(): Promise<unknown> }
  crashPostgres(): Promise<unknown>
  flushRedis(): Promise<unknown>
}

/** Injects a fault and ends it: afterwards everything runs. */
type Fault = () => Promise<unknown>

const OUTAGE_MS = 1_000
const STOPPED_MS = 2_000
const RESTART_RETRY_MS = 200

/** Starts a process until it stays up: it exits while PostgreSQL is down, as under a supervisor. */
async function startUntilUp(process: Process): Promise<void> {
  for (let isUp = false; !isUp; ) {
    isUp = await process.start().then(
      () => true,
      () => pause(RESTART_RETRY_MS, false),
    )
  }
}

/** Lists all faults by name. `any` picks one of several. */
export function faultsOf(
  system: System,
  { nats, crashPostgres, flushRedis }: Stores,
  pool: WorkerPool,
  any: <T>(all: readonly T[]) => T,
): Map<string, Fault> {
  const one = (service: Service) => any(system.of(service)) as Process
  const kill =
    (service: Service): Fault =>
    async () => {
      const process = one(service)
      await process.end('SIGKILL')
      await startUntilUp(process)
    }
  const stop =
    (service: Service): Fault =>
    async () => {
      const process = one(service)
      process.signal('SIGSTOP')
      await pause(STOPPED_MS)
      process.signal('SIGCONT')
    }
  const services = ['executions', 'dispatcher', 'gateway', 'catalog', 'identity'] as const
  const natsOutage = async () => {
    await nats.kill()
    await pause(OUTAGE_MS)
    await nats.wipe()
    await nats.start()
  }
  return new Map<string, Fault>([
    ...services.map((service): [string, Fault] => [`kill ${service}`, kill(service)]),
    ...services.slice(0, 3).map((service): [string, Fault] => [`stop ${service}`, stop(service)]),
    ['NATS outage', natsOutage],
    ['PostgreSQL crash', crashPostgres],
    ['Redis flush', flushRedis],
    ['kill worker', () => pool.replace()],
    ['hang worker', () => pool.hang(STOPPED_MS)],
  ])
}
