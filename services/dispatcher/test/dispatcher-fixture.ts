import { randomBytes } from 'node:crypto'
import {
  DispatcherService,
  type RegisterRequest,
  type Worker,
} from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { Ready, WorkerSignal } from '@windlass/proto/windlass/signals/v1/signals'
import { openBus } from '@windlass/runtime/nats/bus'
import { freshDatabase, openTestDb, testUrl } from '@windlass/testkit/database'
import { startService } from '@windlass/testkit/service'
import { clientOf } from '@windlass/testkit/service-identity'
import { workerRecord } from '@windlass/testkit/worker-record'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { start } from '../src/server.ts'
import { FakeExecutions } from './executions-fake.ts'
import { openStream } from './worker-fake.ts'

const PACKAGES = [{ name: 'aiohttp', version: '3.9.1' }]
const MIGRATIONS = new URL('../migrations/', import.meta.url)

/** Starts dispatchers on one database, with fakes of executions and catalog. */
export async function startDispatchers({
  dispatchers = 1,
  env = {} as Record<string, string>,
  hasAwaitWork = true,
} = {}) {
  const url = await freshDatabase('dispatcher', MIGRATIONS)
  const executions = new FakeExecutions()
  const settings = {
    SVC_POSTGRES__URL: url,
    SVC_NATS__URL: testUrl('TEST_NATS_URL'),
    SVC_SERVICES__EXECUTIONS: await executions.listen({ hasAwaitWork }),
    SVC_SERVICES__CATALOG: await executions.listenCatalog(),
    SVC_WORKERS__HEARTBEAT_INTERVAL: '0.2',
    SVC_WORKERS__HEARTBEAT_TIMEOUT: '60',
    SVC_WORKERS__EVICTION_GRACE_PERIOD: '60',
    ...env,
  }
  const begin = async () => {
    const { ports, stop, logged } = await startService(start, settings)
    const client = <S extends Parameters<typeof clientOf>[0]>(service: S) => {
      const connected = clientOf(service, [`127.0.0.1:${ports.grpc}`])
      onTestFinished(() => connected.close())
      return connected
    }
    return { rpc: client(DispatcherService), client, streams: ports.streams ?? 0, stop, logged }
  }
  const all = await Promise.all(Array.from({ length: dispatchers }, begin))
  const db = openTestDb(url, 'dispatcher')
  const bus = await openBus(testUrl('TEST_NATS_URL'), pino({ level: 'silent' }))
  onTestFinished(() => bus.close())
  const [first] = all
  if (!first) throw new Error('no dispatcher')

  return {
    ...first,
    all,
    db,
    bus,
    executions,
    begin,
    name: () => `w-${randomBytes(6).toString('hex')}`,
    register: (change: Partial<Worker>, extra: Partial<RegisterRequest> = {}) =>
      first.rpc.register(registration(change, extra)),
    /** Registers a worker and opens its stream at the first dispatcher. */
    async join(change: Partial<Worker> & { name: string }, extra: Partial<RegisterRequest> = {}) {
      const { session_id } = await first.rpc.register(registration(change, extra))
      return { session_id, stream: await openStream(first.streams, change.name, session_id) }
    },
    publishReady: (requirement_id: string) =>
      bus.publishBestEffort(`ready.${requirement_id}`, Ready.encode({ requirement_id }).finish()),
    publishSignal: (name: string, body: NonNullable<WorkerSignal['body']>) =>
      bus.publishBestEffort(`workers.${name}`, WorkerSignal.encode({ body }).finish()),
  }
}

export const registration = (
  change: Partial<Worker>,
  extra: Partial<RegisterRequest> = {},
): RegisterRequest => ({
  worker: {
    ...workerRecord('w', { labels: { zone: 'a' }, packages: PACKAGES, capacity: 2 }),
    status: '',
    metrics: {},
    last_seen_at: undefined,
    registered_at: undefined,
    session_id: '',
    ...change,
  },
  instance: '',
  proven_session_id: '',
  ...extra,
})
