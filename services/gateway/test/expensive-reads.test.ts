import type { Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

const EXPENSIVE = [
  ...['/executions', '/executions?error=x&workflow_name=w', '/executions/stats', '/queue'],
  ...[`/executions/${ID}/timeline`, `/executions/${ID}/diff/${ID}`, '/workers/w/history'],
  ...['/workers/w/executions', '/schedules/forecast', '/schedules/nightly/next'],
  ...['/workflows/default/hello/versions/1/diff/2', '/auth/permissions', '/approvals'],
]

const SCHEDULE: Schedule = {
  ...{ id: 'nightly', workflow_id: ID, workflow_namespace: 'default', workflow_name: 'hello' },
  ...{ name: 'nightly', schedule_type: 'cron', status: 'active', overlap: 'allow' },
  ...{ created_at: new Date(0), updated_at: new Date(0), last_run_at: undefined },
  ...{ next_run_at: undefined, run_count: 0, failure_count: 0 },
  ...{ schedule_config_json: '{}', input_json: 'null' },
}

test('expensive reads of one caller that do not end: four are asked for, the rest waits for its turn', async () => {
  let asked = 0
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const hold = async (): Promise<never> => {
    asked++
    await released
    throw new Fault('unavailable', 'ended')
  }
  const { call } = await startGateway({
    history: { search: hold, stats: hold, queueDepths: hold, timeline: hold, compare: hold },
    scheduler: { get: async () => SCHEDULE, forecast: hold, next: hold },
    catalog: { diff: hold, list: hold },
    approvals: { list: hold },
  })
  const reads = [...EXPENSIVE, ...EXPENSIVE].map((path) => call('GET', path))
  await expect.poll(() => asked).toBe(4)
  expect((await call('GET', '/me')).status).toBe(200)
  expect(asked).toBe(4)
  release()
  const answers = await Promise.all(reads)
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503))
  expect(asked).toBe(reads.length)
})

test('the same read many times at once: one is asked for, then one for all that came meanwhile', async () => {
  const held: (() => void)[] = []
  let asked = 0
  const { call } = await startGateway({
    history: {
      stats: async () => {
        const cut = ++asked > 1
        await new Promise<void>((resolve) => held.push(resolve))
        return { from: new Date(0), to: new Date(0), buckets: [], cut }
      },
    },
  })
  const read = async (query = '') => {
    const response = await call('GET', `/executions/stats?step=60${query}`)
    return ((await response.json()) as { cut: boolean }).cut
  }
  const first = read()
  await expect.poll(() => asked).toBe(1)
  const others = Array.from({ length: 20 }, () => read())
  const different = read('&group=worker')
  await expect.poll(() => asked).toBe(2)
  expect((await call('GET', '/me')).status).toBe(200)
  for (const release of held.splice(0)) release()
  await expect.poll(() => held.length).toBe(1)
  held.pop()?.()
  expect([await first, await different]).toEqual([false, true])
  expect(await Promise.all(others)).toEqual(Array(20).fill(true))
  expect(asked).toBe(3)
})
