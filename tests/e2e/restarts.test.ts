import { TERMINAL_STATES } from '@windlass/domain/states'
import { startSystem } from '@windlass/testkit/system'
import type { Service } from '@windlass/testkit/system-processes'
import { expect, test } from 'vitest'
import { client, example } from './api.ts'
import { sharedSystem } from './execution-fixture.ts'

const shared = sharedSystem({ workers: 1 })

const services: Service[] = [
  'gateway',
  'identity',
  'catalog',
  'executions',
  'dispatcher',
  'scheduler',
  'mcp',
]

test.each(services)('%s killed and restarted: a running workflow completes', async (service) => {
  const system = shared()
  const api = client(system.url)
  await api.upload(await example('ten_tasks'))
  const { execution_id } = await api.run('ten_tasks', 'async', 0.1)
  await api.until(execution_id, 'RUNNING')
  for (const process of system.of(service)) await process.restart('SIGKILL')
  const done = await api.until(execution_id, ...TERMINAL_STATES)
  expect(done.state, JSON.stringify(done)).toBe('COMPLETED')
  const tasks = done.events.filter(({ type }: { type: string }) => type === 'TASK_COMPLETED')
  expect(tasks).toHaveLength(10)
})

test('U3: SIGTERM: every service exits on its own and logs that it stopped', async () => {
  const system = await startSystem()
  const api = client(system.url)
  await api.upload(await example('hello_world'))
  expect((await api.run('hello_world', 'sync', 'x')).state).toBe('COMPLETED')
  for (const service of services.toReversed())
    for (const process of system.of(service)) {
      await process.end('SIGTERM')
      expect(process.output, service).toContain('"msg":"stopped"')
      expect(process.output, service).not.toContain('"level":"error"')
    }
})
