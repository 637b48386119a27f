import { startPrivateNats } from '@windlass/testkit/private-nats'
import { startSystem } from '@windlass/testkit/system'
import type { Service } from '@windlass/testkit/system-processes'
import { expect, test } from 'vitest'
import { client, example } from './api.ts'

/** The promise is one or two seconds. */
const LIMIT_MS = 60_000
const CONSUMERS = ['executions-dispatcher', 'scheduler-catalog', 'scheduler-executions']
const RESTARTED: Service[] = ['executions', 'dispatcher', 'gateway', 'catalog', 'scheduler']

test('D1, N1: NATS down, services restarted, NATS back with an empty store: work starts and ends', {
  timeout: 240_000,
}, async () => {
  const nats = await startPrivateNats()
  const system = await startSystem({ infra: { TEST_NATS_URL: nats.url } })
  const api = client(system.url)
  await api.upload(await example('hello_world'))

  const works = async () => {
    const begun = performance.now()
    const { execution_id } = await api.run('hello_world', 'async', 'x')
    await api.until(execution_id, 'COMPLETED')
    expect((await api.run('hello_world', 'sync', 'y')).output).toBe('Hello, y')
    expect(performance.now() - begun).toBeLessThan(LIMIT_MS)
  }
  await works()

  await nats.kill()
  await works()
  await system.startWorker()
  await works()
  await Promise.all(
    RESTARTED.flatMap((service) => system.of(service).map((one) => one.restart('SIGKILL'))),
  )
  await works()

  await nats.wipe()
  await nats.start()
  await works()
  const consumers = async () => {
    const report = await nats.report()
    return CONSUMERS.filter((name) => report.includes(`"${name}"`))
  }
  await expect.poll(consumers, { timeout: LIMIT_MS }).toEqual(CONSUMERS)
})
