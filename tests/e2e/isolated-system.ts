import net from 'node:net'
import { signalIfRunning } from '@windlass/runtime/process/pids'
import { query } from '@windlass/testkit/database'
import { startLocal } from '@windlass/testkit/infra-local'
import { startPrivateNats } from '@windlass/testkit/private-nats'
import { type System, startSystem } from '@windlass/testkit/system'
import { afterAll, beforeAll } from 'vitest'
import { TWO_OF_EACH } from './execution-fixture.ts'

export interface IsolatedSystem {
  system: System
  nats: Awaited<ReturnType<typeof startPrivateNats>>
  crashPostgres(): Promise<void>
  /** Sends one command to Redis. */
  redisCommand(command: string): Promise<string>
}

/** Starts two of each service with private PostgreSQL, NATS and Redis, which the tests may break. */
export function isolatedSystem(env: Record<string, string>): () => IsolatedSystem {
  let isolated: IsolatedSystem | undefined
  const teardown: (() => unknown)[] = []
  beforeAll(async () => {
    const infra = await startLocal()
    teardown.unshift(() => infra.stop())
    const nats = await startPrivateNats((one) => teardown.unshift(one))
    const system = await startSystem({
      replicas: TWO_OF_EACH,
      workers: 0,
      infra: { ...infra.urls, TEST_NATS_URL: nats.url },
      env,
      defer: (one) => teardown.unshift(one),
    })
    const { database } = system
    // Test databases commit asynchronously and lose commits in a crash; this one must not.
    await query(
      database,
      `alter database ${new URL(database).pathname.slice(1)} set synchronous_commit = on`,
    )
    await query(
      database,
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    )
    const { TEST_REDIS_URL: redisUrl } = infra.urls
    isolated = {
      system,
      nats,
      crashPostgres: () => crashPostgres(database),
      redisCommand: (command) => sendToRedis(redisUrl, command),
    }
  }, 180_000)
  afterAll(async () => {
    for (const one of teardown) await one()
  })
  return () => {
    if (!isolated) throw new Error('the system has not started')
    return isolated
  }
}

/** Kills one backend: the server then ends all others and recovers from its log (crash recovery). */
async function crashPostgres(database: string): Promise<void> {
  // Pools close idle connections, so a backend may end between the query and the signal.
  const backends = await query<{ pid: number }>(
    database,
    `select pid from pg_stat_activity
      where datname = current_database() and application_name like 'windlass-%'`,
  )
  if (!backends.some(({ pid }) => signalIfRunning(pid, 'SIGKILL')))
    throw new Error('no backend could be killed')
}

function sendToRedis(url: string, command: string): Promise<string> {
  const { port, password } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), '127.0.0.1')
    let received = ''
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      received += chunk
      if (received.split('\r\n').length > 2) socket.end()
    })
    socket.on('close', () => resolve(received))
    socket.write(`AUTH ${password}\r\n${command}\r\n`)
  })
}
