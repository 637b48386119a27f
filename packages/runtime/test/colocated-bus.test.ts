import { randomBytes } from 'node:crypto'
import { connect } from '@nats-io/transport-node'
import { testUrl } from '@windlass/testkit/database'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openBus } from '../src/nats/bus.ts'
import { Colocation } from '../src/process/colocation.ts'

const log = pino({ level: 'silent' })
const HANG_MS = 30_000

/** A shared process with two services, and the messages that it sends to NATS. */
async function setup() {
  const prefix = `test-${randomBytes(4).toString('hex')}`
  const open = async (colocation?: Colocation) => {
    const bus = await openBus(testUrl('TEST_NATS_URL'), log, prefix, { colocation })
    onTestFinished(() => bus.close())
    return bus
  }
  const colocation = new Colocation(['executions', 'gateway'])
  const [executions, gateway] = [await open(colocation), await open(colocation)]
  const { hostname, port, username, password } = new URL(testUrl('TEST_NATS_URL'))
  const admin = await connect({ servers: `${hostname}:${port}`, user: username, pass: password })
  onTestFinished(() => admin.close())
  const onNats: string[] = []
  admin.subscribe(`${prefix}.executions.*.events.*`, {
    callback: (_, { subject }) => void (/\$/.test(subject) || onNats.push(subject)),
  })
  await admin.flush()
  return { prefix, open, executions, gateway, onNats, admin }
}

const EVENT = 'executions.1.events.settled'

test('services of one process alone: messages do not reach NATS', async () => {
  const { executions, gateway, onNats, admin } = await setup()
  const seen: string[] = []
  gateway.subscribeBestEffort(EVENT, (bytes, subject) => seen.push(`${subject} ${bytes}`))
  // The first message starts to look for other processes; those after it know that there is none.
  for (const text of ['a', 'b']) {
    executions.publishBestEffort(EVENT, Buffer.from(text))
    await expect.poll(() => seen.at(-1), { timeout: HANG_MS }).toContain(`${Buffer.from(text)}`)
    await executions.ping()
  }
  expect(seen).toHaveLength(2)
  await admin.flush()
  expect(onNats).toEqual([])
})

test('another process subscribes: it gets the messages, and those of one process come once', async () => {
  const { open, executions, gateway } = await setup()
  const other = await open()
  const [own, others]: [string[], string[]] = [[], []]
  gateway.subscribeBestEffort(EVENT, (bytes) => own.push(Buffer.from(bytes).toString()))
  other.subscribeBestEffort(EVENT, (bytes) => others.push(Buffer.from(bytes).toString()))
  let sent = 0
  const found = async () => {
    executions.publishBestEffort(EVENT, Buffer.from(String(++sent)))
    await executions.ping()
    await other.ping()
    return others.length
  }
  await expect.poll(found, { timeout: HANG_MS, interval: 50 }).toBeGreaterThan(2)
  await gateway.ping()
  expect(own).toEqual(Array.from({ length: sent }, (_, i) => String(i + 1)))
  expect(new Set(others).size).toBe(others.length)
})

test('message of another process: delivered to the services of a shared one', async () => {
  const { open, gateway } = await setup()
  const other = await open()
  const seen: string[] = []
  gateway.subscribeBestEffort(EVENT, (bytes) => seen.push(Buffer.from(bytes).toString()))
  await gateway.ping()
  other.publishBestEffort(EVENT, Buffer.from('from outside'))
  await expect.poll(() => seen, { timeout: HANG_MS }).toEqual(['from outside'])
})
