import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import net from 'node:net'
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import { storeUrl, testUrl } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import { freePort } from '@windlass/testkit/ports'
import { hasNats } from '@windlass/testkit/private-nats'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { invalidateCaches, readGeneration } from '../src/cache-generation.ts'
import { openBus } from '../src/nats/bus.ts'
import { toDurableMessage } from '../src/postgres/outbox.ts'
import { openRedis, redisReady } from '../src/redis/redis.ts'

const CONFIG = new URL('../../../scripts/stores/nats-config.ts', import.meta.url).href
const START_MS = 60_000

/** A NATS server with the users of the services, as `npm start` configures it. */
async function natsServer(prefixes = ['']) {
  const { natsConfig } = (await import(CONFIG)) as { natsConfig(given: object): string }
  const folder = temporaryFolder('nats')
  const port = await freePort()
  const file = join(folder, 'nats.conf')
  const all = { user: 'windlass', password: 'all' }
  const passwordOf = (service: string) => `of ${service}`
  await writeFile(file, natsConfig({ port, store: join(folder, 'js'), all, passwordOf, prefixes }))
  const server: ChildProcess = spawn('nats-server', ['-c', file], { stdio: 'ignore' })
  onTestFinished(async () => {
    if (server.exitCode === null) {
      server.kill('SIGKILL')
      await once(server, 'exit')
    }
  })
  await expect.poll(() => answers(port), { timeout: START_MS }).toBe(true)
  const open = async (user: string, pass = passwordOf(user)) => {
    const connection = await connect({ servers: `127.0.0.1:${port}`, user, pass, reconnect: false })
    onTestFinished(() => connection.close())
    return connection
  }
  const url = (user: string, pass: string) =>
    `nats://${user}:${encodeURIComponent(pass)}@127.0.0.1:${port}`
  return { port, open, urlOf: (service: string) => url(service, passwordOf(service)) }
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined))
    socket.once('error', () => resolve(false))
  })

test('N155: NATS without a password: connection refused', async () => {
  const { host } = new URL(testUrl('TEST_NATS_URL'))
  await expect(connect({ servers: host, reconnect: false })).rejects.toThrow(/Authorization/i)
  const wrong = connect({ servers: host, user: 'windlass', pass: 'guess', reconnect: false })
  await expect(wrong).rejects.toThrow(/Authorization/i)
})

test.skipIf(!hasNats).each<[service: string, subject: string]>([
  ['gateway', 'events.executions.execution_finished'],
  ['gateway', 'workers.w1'],
  ['catalog', 'events.executions.execution_finished'],
  ['catalog', 'executions.x.events.step'],
  ['dispatcher', 'events.identity.key_created'],
  ['scheduler', 'events.executions.execution_finished'],
  // Of JetStream: a stream of what others say, an end to the one there is, the place of another in it.
  ...['catalog', 'executions', 'dispatcher', 'scheduler'].flatMap((service): [string, string][] =>
    [
      'STREAM.CREATE.SPY',
      'STREAM.UPDATE.EVENTS',
      'STREAM.DELETE.EVENTS',
      'STREAM.PURGE.EVENTS',
      'STREAM.MSG.GET.EVENTS',
      'STREAM.MSG.DELETE.EVENTS',
      'STREAM.SNAPSHOT.EVENTS',
      'DIRECT.GET.EVENTS',
      'CONSUMER.LIST.EVENTS',
      'CONSUMER.CREATE.EVENTS.spy',
      'CONSUMER.DELETE.EVENTS.scheduler-executions',
    ].map((request) => [service, `$JS.API.${request}`]),
  ),
  ['catalog', '$JS.API.CONSUMER.MSG.NEXT.EVENTS.scheduler-catalog'],
  ['executions', '$JS.API.CONSUMER.MSG.NEXT.EVENTS.scheduler-executions'],
  ['executions', '$JS.ACK.EVENTS.scheduler-executions.1.1.1.1.1'],
  ['scheduler', '$JS.API.CONSUMER.CREATE.EVENTS.scheduler-executions.events.dispatcher.>'],
])('N155: %s may not publish %s', async (service, subject) => {
  const { open } = await natsServer()
  const connection = await open(service)
  const all = await open('windlass', 'all')
  const heard: string[] = []
  all.subscribe('>', { callback: (_, message) => void heard.push(message.subject) })
  await all.flush()
  connection.publish(subject, 'forged')
  await connection.flush()
  all.publish('the.end')
  await all.flush()
  expect(heard).toEqual(['the.end'])
})

test.skipIf(!hasNats).each<[service: string, subject: string]>([
  ['gateway', '>'],
  ['catalog', '>'],
  ['catalog', 'executions.*.events.*'],
  ['dispatcher', 'executions.*.progress'],
  ['scheduler', 'workers.*'],
])('N155: %s may not subscribe to %s', async (service, subject) => {
  const { open } = await natsServer()
  const connection = await open(service)
  const refused = new Promise<string>((resolve) => {
    connection.subscribe(subject, { callback: (error) => resolve(error?.message ?? 'nothing') })
  })
  expect(await refused).toMatch(/permission/i)
})

test.skipIf(!hasNats).each(['', 'one', 'two'])(
  'prefix "%s": the services that need a message receive it',
  async (prefix) => {
    const { urlOf } = await natsServer([prefix, 'one'])
    const open = async (service: string) => {
      const bus = await openBus(urlOf(service), pino({ level: 'silent' }), prefix)
      onTestFinished(() => bus.close())
      return bus
    }
    const buses = {
      catalog: await open('catalog'),
      executions: await open('executions'),
      dispatcher: await open('dispatcher'),
      scheduler: await open('scheduler'),
    }
    const heard: string[] = []
    const hear = async ({ event_id }: { event_id: string }) => void heard.push(event_id)
    const { executions, dispatcher, scheduler } = buses
    const hearing = dispatcher.subscribeBestEffort(
      'ready.*',
      (_, subject) => void heard.push(subject),
    )
    await hearing.confirmed()
    executions.publishBestEffort('ready.r1', Buffer.alloc(0))
    const finished = { durable: 'scheduler-executions', subject: 'executions.execution_finished' }
    onTestFinished(scheduler.consumeDurable(finished, hear))
    onTestFinished(
      scheduler.consumeDurable({ durable: 'scheduler-catalog', subject: 'catalog.>' }, hear),
    )
    const evicted = { durable: 'executions-dispatcher', subject: 'dispatcher.worker_evicted' }
    onTestFinished(executions.consumeDurable(evicted, hear))
    const say = (service: keyof typeof buses, $case: string, value: object, id: string) =>
      buses[service].publishDurable([
        toDurableMessage(service, 'x', { $case, value } as never, { event_id: id }),
      ])
    const ended = { execution_id: 'x', state: 'COMPLETED', schedule_id: '' }
    await say('executions', 'execution_finished', ended, 'e1')
    await say('catalog', 'workflow_deleted', { namespace: 'a', name: 'x', version: 0 }, 'c1')
    await say('dispatcher', 'worker_evicted', { worker_name: 'w', connection_generation: 1 }, 'd1')
    const all = ['c1', 'd1', 'e1', 'ready.r1']
    await expect.poll(() => heard.toSorted(), { timeout: START_MS }).toEqual(all)
  },
)

const redisAs = (service: string) => {
  const redis = openRedis(storeUrl(testUrl('TEST_REDIS_URL'), service))
  onTestFinished(() => redis.disconnect())
  return redisReady(redis).then(() => redis)
}

test
  .skipIf(!process.env.TEST_SERVICE_USERS)
  .each<[service: string, command: string, args: string[]]>([
    ['gateway', 'KEYS', ['*']],
    ['gateway', 'FLUSHALL', []],
    ['gateway', 'CONFIG', ['GET', '*']],
    ['gateway', 'ACL', ['LIST']],
    ['gateway', 'SET', ['something', 'else']],
    ['gateway', 'MONITOR', []],
    ['gateway', 'EVAL', ["return redis.call('get', 'something')", '0']],
    ['identity', 'SET', ['epoch:catalog', 'x']],
    ['identity', 'GET', ['epoch:auth']],
    ['identity', 'EVAL', ['return 1', '0']],
    ['catalog', 'SET', ['epoch:auth', 'x']],
    ['catalog', 'SET', ['rate:register:127.0.0.1', '0']],
    ['catalog', 'FLUSHDB', []],
  ])('N156: Redis does no %s %s %j', async (service, command, args) => {
  const redis = await redisAs(service)
  await expect(redis.call(command, ...args)).rejects.toThrow(/NOPERM|permissions|can't access/)
})

test.skipIf(!process.env.TEST_SERVICE_USERS)(
  'a service user of Redis: may run the commands it needs',
  async () => {
    await invalidateCaches(await redisAs('identity'), 'auth')
    await invalidateCaches(await redisAs('catalog'), 'catalog')
    const gateway = await redisAs('gateway')
    for (const name of ['auth', 'catalog'] as const)
      expect(await readGeneration(gateway, name)).toMatch(/^[0-9a-f]{24}$/)
  },
)

test.skipIf(!process.env.TEST_SERVICE_USERS).each(['executions', 'dispatcher', 'scheduler', 'mcp'])(
  'N156: Redis does not know %s at all',
  async (service) => {
    const { hostname, port } = new URL(testUrl('TEST_REDIS_URL'))
    const { password } = new URL(storeUrl(testUrl('TEST_REDIS_URL'), service))
    const redis = new Redis({ host: hostname, port: Number(port), enableReadyCheck: false })
    redis.on('error', () => {})
    onTestFinished(() => redis.disconnect())
    await expect(redis.call('AUTH', service, password)).rejects.toThrow('WRONGPASS')
  },
)

test.each([
  ['PING', []],
  ['KEYS', ['*']],
  ['CONFIG', ['SET', 'dir', '/tmp']],
  ['EVAL', ['return 1', '0']],
])('N156: Redis without a password: %s refused', async (command, args) => {
  const { hostname, port } = new URL(testUrl('TEST_REDIS_URL'))
  const redis = new Redis({ host: hostname, port: Number(port), enableReadyCheck: false })
  redis.on('error', () => {})
  onTestFinished(() => redis.disconnect())
  await expect(redis.call(command, ...args)).rejects.toThrow('NOAUTH')
})
