import { randomBytes } from 'node:crypto'
import { TERMINAL_STATES } from '@windlass/domain/states'
import { query } from '@windlass/testkit/database'
import { expect, test } from 'vitest'
import { client, example } from './api.ts'
import { sharedSystem } from './execution-fixture.ts'

const HANG_MS = 60_000
const shared = sharedSystem({ singleProcess: true, workers: 1 })

const countTasks = ({ events }: { events: { type: string }[] }) =>
  events.filter(({ type }) => type === 'TASK_COMPLETED').length

test('single process: runs, and resumes a paused execution', async () => {
  const api = client(shared().url)
  await api.upload(await example('hello_world'))
  expect(await api.run('hello_world', 'sync', 'World')).toMatchObject({
    state: 'COMPLETED',
    output: 'Hello, World',
  })
  await api.upload(await example('approval_pause'))
  const { execution_id } = await api.run('approval_pause', 'async', { amount: 12 })
  await api.until(execution_id, 'PAUSED')
  const path = `/workflows/default/approval_pause/resume/${execution_id}/sync`
  expect(await api.json('POST', path, { approved: true, by: 'me' })).toMatchObject({
    state: 'COMPLETED',
  })
  for (const path of ['/health', '/console/'])
    expect((await api.call('GET', path)).status, path).toBe(200)
})

test('schema of one service missing: the others serve; back: its loops continue', async () => {
  const { url, database } = shared()
  const api = client(url)
  await api.upload(await example('hello_world'))
  const name = `every-second-${randomBytes(4).toString('hex')}`
  const schedule = await api.json('POST', '/schedules', {
    name,
    workflow_name: 'hello_world',
    schedule_config: { type: 'interval', interval_seconds: 1 },
    input_data: 'tick',
  })
  const fired = async () => (await api.json('GET', `/schedules/${schedule.id}`)).run_count
  await expect.poll(fired, { timeout: HANG_MS }).toBeGreaterThan(0)

  await query(database, 'alter schema scheduler rename to scheduler_away')
  expect((await api.call('GET', `/schedules/${schedule.id}`)).status).toBeGreaterThanOrEqual(500)
  expect(await api.run('hello_world', 'sync', 'x')).toMatchObject({ state: 'COMPLETED' })
  await query(database, 'alter schema scheduler_away rename to scheduler')
  const before = await fired()
  await expect.poll(fired, { timeout: HANG_MS }).toBeGreaterThan(before)
  expect((await api.call('DELETE', `/schedules/${schedule.id}`)).status).toBeLessThan(300)
})

test('SIGKILL of the process: the next one continues what ran', async () => {
  const system = shared()
  const api = client(system.url)
  await api.upload(await example('ten_tasks'))
  const { execution_id } = await api.run('ten_tasks', 'async', 0.2)
  await expect.poll(async () => countTasks(await api.status(execution_id))).toBeGreaterThan(1)
  await system.of('executions')[0]?.restart('SIGKILL')
  const done = await api.until(execution_id, ...TERMINAL_STATES)
  expect(done.state, JSON.stringify(done)).toBe('COMPLETED')
  expect(countTasks(done)).toBe(10)
})

test('SIGTERM: the process stops on its own and serves again after a start', async () => {
  const system = shared()
  const [all] = system.of('gateway')
  await all?.end('SIGTERM')
  expect(all?.output).toContain('"service":"all"')
  expect(all?.output).toMatch(/"msg":"stopped"/)
  // The next test, or a retry of this one, finds a running system.
  await all?.start()
  expect((await client(system.url).call('GET', '/health')).status).toBe(200)
})
