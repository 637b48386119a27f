import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { testUrl } from '@windlass/testkit/database'
import { hasNats, startPrivateNats } from '@windlass/testkit/private-nats'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openBus } from '../src/nats/bus.ts'
import { toDurableMessage } from '../src/postgres/outbox.ts'

async function setup() {
  const bus = await openBus(testUrl('TEST_NATS_URL'), pino({ level: 'silent' }))
  onTestFinished(() => bus.close())
  const source = `test${randomBytes(4).toString('hex')}`
  const event = (worker_name: string, event_id?: string) =>
    toDurableMessage(
      source,
      worker_name,
      { $case: 'worker_evicted', value: { worker_name, connection_generation: 1 } },
      { event_id },
    )
  return { bus, source, event, consumer: { durable: source, subject: `${source}.>` } }
}

test('a handler that fails: its event is delivered again, before later ones', async () => {
  const { bus, event, consumer } = await setup()
  const seen: string[] = []
  const stop = bus.consumeDurable(consumer, async ({ key }) => {
    seen.push(key)
    if (seen.length === 1) throw new Error('not yet')
  })
  onTestFinished(() => stop())
  await bus.publishDurable([event('first'), event('second')])
  await expect.poll(() => seen).toEqual(['first', 'first', 'second'])
})

test('N2: an event published twice under one id: handled once', async () => {
  const { bus, event, consumer } = await setup()
  const seen: string[] = []
  const stop = bus.consumeDurable(consumer, async ({ key }) => void seen.push(key))
  onTestFinished(() => stop())
  const repeated = event('twice', randomBytes(8).toString('hex'))
  await bus.publishDurable([repeated])
  await bus.publishDurable([repeated, event('after')])
  await expect.poll(() => seen).toEqual(['twice', 'after'])
})

test('N3: a consumer lost with its server: created again', async () => {
  const { bus, source, event, consumer } = await setup()
  const seen: string[] = []
  const stop = bus.consumeDurable(consumer, async ({ key }) => void seen.push(key))
  onTestFinished(() => stop())
  await bus.publishDurable([event('before')])
  await expect.poll(() => seen).toEqual(['before'])
  const { hostname, port, username, password } = new URL(testUrl('TEST_NATS_URL'))
  const admin = await connect({ servers: `${hostname}:${port}`, user: username, pass: password })
  onTestFinished(() => admin.close())
  const manager = await jetstreamManager(admin)
  await manager.consumers.delete('EVENTS', source)
  await expect
    .poll(async () => (await manager.consumers.info('EVENTS', source).catch(() => undefined))?.name)
    .toBe(source)
  await bus.publishDurable([event('after')])
  await expect.poll(() => seen.at(-1)).toBe('after')
})

test('best-effort messages: delivered to current subscribers', async () => {
  const { bus, source } = await setup()
  const heard: string[] = []
  const listening = bus.subscribeBestEffort(`${source}.*`, (bytes, subject) =>
    heard.push(`${subject} ${Buffer.from(bytes)}`),
  )
  await listening.confirmed()
  bus.publishBestEffort(`${source}.a`, Buffer.from('1'))
  await expect.poll(() => heard).toEqual([`${source}.a 1`])
  listening.stop()
  bus.publishBestEffort(`${source}.a`, Buffer.from('2'))
  await bus.ping()
  expect(heard).toHaveLength(1)
})

test('stop at any moment of the start: the consumer stops', async () => {
  const { bus, source } = await setup()
  for (let turns = 0; turns < 40; turns++) {
    const stop = bus.consumeDurable({ durable: source, subject: `${source}.>` }, async () => {})
    for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve))
    await stop()
  }
})

test('systems with different prefixes: do not receive messages of one another', async () => {
  const open = async (prefix: string) => {
    const bus = await openBus(testUrl('TEST_NATS_URL'), pino({ level: 'silent' }), prefix)
    onTestFinished(() => bus.close())
    const heard: string[] = []
    const listening = bus.subscribeBestEffort('said.*', (_, subject) => heard.push(subject))
    await listening.confirmed()
    const stop = bus.consumeDurable({ durable: 'same', subject: 'test.>' }, async ({ key }) => {
      heard.push(key)
    })
    onTestFinished(() => stop())
    return { bus, heard }
  }
  const [a, b] = [await open(`a${Date.now()}`), await open(`b${Date.now()}`)]
  const evicted = {
    $case: 'worker_evicted',
    value: { worker_name: 'w', connection_generation: 1 },
  } as const
  a.bus.publishBestEffort('said.this', Buffer.from('1'))
  await a.bus.publishDurable([toDurableMessage('test', 'durably', evicted)])
  await expect.poll(() => a.heard).toEqual(['said.this', 'durably'])
  await b.bus.publishDurable([toDurableMessage('test', 'own', evicted)])
  await expect.poll(() => b.heard).toEqual(['own'])
})

test.skipIf(!hasNats)(
  'N1: bus opened while NATS is unavailable: publishes and consumes once it is there',
  async () => {
    const nats = await startPrivateNats()
    await nats.kill()
    const bus = await openBus(nats.url, pino({ level: 'silent' }))
    onTestFinished(() => bus.close())
    const heard: string[] = []
    bus.publishBestEffort('said.lost', Buffer.from('1'))
    bus.subscribeBestEffort('said.*', (_, subject) => heard.push(subject))
    const dropped = bus.subscribeBestEffort('said.*', () => heard.push('too late'))
    dropped.stop()
    const stop = bus.consumeDurable({ durable: 'late', subject: 'test.>' }, async ({ key }) => {
      heard.push(key)
    })
    onTestFinished(() => stop())
    const evicted = {
      $case: 'worker_evicted',
      value: { worker_name: 'w', connection_generation: 1 },
    } as const
    await expect(bus.publishDurable([toDurableMessage('test', 'early', evicted)])).rejects.toThrow(
      /not connected yet/,
    )
    await nats.start()
    await bus.ping()
    bus.publishBestEffort('said.now', Buffer.from('2'))
    await expect.poll(() => heard).toEqual(['said.now'])
    await bus.publishDurable([toDurableMessage('test', 'late', evicted)])
    await expect.poll(() => heard).toEqual(['said.now', 'late'])
  },
)

/** If each waited for an answer of the server that is away, this many would outlast the test. */
const ATTEMPTS = 100

test.skipIf(!hasNats)(
  'NATS unavailable: publishDurable rejects at once; back: it succeeds',
  async () => {
    const nats = await startPrivateNats()
    const bus = await openBus(nats.url, pino({ level: 'silent' }))
    onTestFinished(() => bus.close())
    const evicted = {
      $case: 'worker_evicted',
      value: { worker_name: 'w', connection_generation: 1 },
    } as const
    const publish = (key: string) => bus.publishDurable([toDurableMessage('test', key, evicted)])
    await publish('before')
    expect(bus.isUp).toBe(true)
    await nats.kill()
    for (let i = 0; i < ATTEMPTS; i++) await expect(publish(`away ${i}`)).rejects.toThrow()
    expect(bus.isUp).toBe(false)
    await nats.start()
    const published = () =>
      publish('after').then(
        () => true,
        () => false,
      )
    await expect.poll(published).toBe(true)
  },
)

test('a wrong password: the bus is not opened', async () => {
  const url = new URL(testUrl('TEST_NATS_URL'))
  url.password = 'guess'
  await expect(openBus(url.href, pino({ level: 'silent' }))).rejects.toThrow(/authorization/i)
})

/** A server that is too busy for the first login, and says so as NATS does. */
async function busyServer(): Promise<string> {
  let logins = 0
  const server = createServer((socket) => {
    const isFirst = ++logins === 1
    socket.on('error', () => {})
    socket.write('INFO {"server_id":"BUSY","version":"2.10.0","proto":1,"max_payload":1048576}\r\n')
    socket.on('data', (sent) => {
      if (isFirst) socket.end("-ERR 'Authentication Timeout'\r\n")
      else if (sent.includes('PING')) socket.write('PONG\r\n')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return `nats://service:word@127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a login that times out because NATS is busy: tried again, not refused', async () => {
  const bus = await openBus(await busyServer(), pino({ level: 'silent' }))
  onTestFinished(() => bus.close())
  await bus.ping()
  expect(bus.isUp).toBe(true)
})

test.skipIf(!hasNats)('a bus that never found NATS: can be closed', async () => {
  const nats = await startPrivateNats()
  await nats.kill()
  const bus = await openBus(nats.url, pino({ level: 'silent' }))
  const stop = bus.consumeDurable({ durable: 'never', subject: 'test.>' }, async () => {})
  await stop()
  await bus.close()
  await expect(bus.ping()).rejects.toThrow(/abort/i)
})

test('a stream with another configuration: is used as it is', async () => {
  const prefix = `test-${randomBytes(4).toString('hex')}`
  const { hostname, port, username, password } = new URL(testUrl('TEST_NATS_URL'))
  const connection = await connect({
    servers: `${hostname}:${port}`,
    user: username,
    pass: password,
  })
  onTestFinished(() => connection.close())
  const manager = await jetstreamManager(connection)
  const name = `EVENTS-${prefix}`
  await manager.streams.add({ name, subjects: [`${prefix}.events.>`], max_msgs: 7 })
  onTestFinished(async () => void (await manager.streams.delete(name)))
  const log = pino({ level: 'silent' })
  const bus = await openBus(testUrl('TEST_NATS_URL'), log, prefix)
  onTestFinished(() => bus.close())
  const seen: string[] = []
  const stop = bus.consumeDurable({ durable: 'test', subject: 'test.>' }, async ({ key }) => {
    seen.push(key)
  })
  onTestFinished(() => stop())
  const value = { worker_name: 'w', connection_generation: 1 }
  await bus.publishDurable([toDurableMessage('test', 'w', { $case: 'worker_evicted', value })])
  await expect.poll(() => seen).toEqual(['w'])
  expect((await manager.streams.info(name)).config).toMatchObject({ max_msgs: 7, num_replicas: 1 })
})
