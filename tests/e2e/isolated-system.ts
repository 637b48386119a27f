import net from 'node:net'
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
  /** Sends Redis one command. */
  redisCommand(command: string): Promise<string>
}

/** Two of each service for the tests of a file, with PostgreSQL, NATS and Redis of their own: they break them. */
export function isolatedSystem(env: Record<string, string>): () => IsolatedSystem {
  let stood: IsolatedSystem | undefined
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
    // Throw-away databases forget what they said at a crash; this one is asked to keep its word.
    await query(
      database,
      `alter database ${new URL(database).pathname.slice(1)} set synchronous_commit = on`,
    )
    await query(
      database,
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    )
    const { TEST_REDIS_URL: redisUrl } = infra.urls
    stood = {
      system,
      nats,
      crashPostgres: () => crashPostgres(database),
      redisCommand: (command) => tellRedis(redisUrl, command),
    }
  }, 180_000)
  afterAll(async () => {
    for (const one of teardown) await one()
  })
  return () => {
    if (!stood) throw new Error('the system has not started')
    return stood
  }
}

/** A backend that is killed makes the server stop all others at once and recover from its log, as after an immediate stop. */
async function crashPostgres(database: string): Promise<void> {
  const [victim] = await query<{ pid: number }>(
    database,
    `select pid from pg_stat_activity
      where datname = current_database() and application_name like 'windlass-%' limit 1`,
  )
  process.kill(victim?.pid ?? Number.NaN, 'SIGKILL')
}

function tellRedis(url: string, command: string): Promise<string> {
  const { port, password } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), '127.0.0.1')
    let heard = ''
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      heard += chunk
      if (heard.split('\r\n').length > 2) socket.end()
    })
    socket.on('close', () => resolve(heard))
    socket.write(`AUTH ${password}\r\n${command}\r\n`)
  })
}
