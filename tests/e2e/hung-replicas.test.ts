import { startSystem } from '@windlass/testkit/system'
import type { Service } from '@windlass/testkit/system-processes'
import { expect, test } from 'vitest'
import { client, example } from './api.ts'

/** The promise is two seconds; before, calls to a hung process waited ten. */
const HANG_MS = 10_000
const RUNS = 12
const SERVICES: Service[] = ['executions', 'catalog', 'identity', 'scheduler']

test('D1: one replica of a service hangs: runs with an idle worker start in time', {
  timeout: 180_000,
}, async () => {
  const replicas = Object.fromEntries(SERVICES.map((service) => [service, 2]))
  const system = await startSystem({ replicas: { ...replicas, gateway: 2 }, workers: 2 })
  const api = client(system.url)
  await api.upload(await example('hello_world'))
  const run = async () => {
    const begun = performance.now()
    expect((await api.run('hello_world', 'sync', 'y')).output).toBe('Hello, y')
    return performance.now() - begun
  }
  for (let i = 0; i < RUNS; i++) await run()

  for (const service of SERVICES)
    for (const replica of system.of(service)) {
      replica.signal('SIGSTOP')
      const durations: number[] = []
      for (let i = 0; i < RUNS; i++) durations.push(await run())
      replica.signal('SIGCONT')
      expect(Math.max(...durations), `${service} hangs`).toBeLessThan(HANG_MS)
    }
})
