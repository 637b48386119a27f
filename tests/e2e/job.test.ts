import type { Process } from '@windlass/testkit/process'
import { beforeAll, describe, expect, test } from 'vitest'
import { client, example, frames } from './api.ts'
import { sharedSystem } from './execution-fixture.ts'

const layouts = [
  { name: 'one of each service', replicas: {} },
  {
    name: 'two gateways, executions and dispatchers behind one address',
    replicas: { gateway: 2, executions: 2, dispatcher: 2 },
  },
]

describe.each(layouts)('$name', ({ replicas }) => {
  const system = sharedSystem({ replicas })
  let first: Process
  beforeAll(async () => {
    first = await system().startWorker({ name: 'first' })
  })

  test('hello world: completes in sync, async and stream mode', async () => {
    const api = client(system().url)
    expect(await api.upload(await example('hello_world'))).toEqual([
      { namespace: 'default', name: 'hello_world', version: 1 },
    ])
    const done = await api.run('hello_world', 'sync', 'World')
    expect(done).toMatchObject({
      state: 'COMPLETED',
      output: 'Hello, World',
      input: 'World',
      workflow_name: 'hello_world',
    })
    expect(done).not.toHaveProperty('events')

    const begun = await api.run('hello_world', 'async', 'again', '?detailed=true')
    expect(begun).toMatchObject({ state: 'SCHEDULED', events: [] })
    expect(await api.until(begun.execution_id, 'COMPLETED')).toMatchObject({
      output: 'Hello, again',
    })

    const seen = await frames(
      await api.call('POST', '/workflows/default/hello_world/run/stream', 'stream'),
    )
    const names = seen.map(({ event }) => event)
    expect(names).toEqual([
      'workflow_started',
      'task_started',
      'task_completed',
      'workflow_completed',
    ])
    expect(JSON.parse(seen.at(-1)?.data ?? '')).toMatchObject({
      state: 'COMPLETED',
      type: 'WORKFLOW_COMPLETED',
      output: 'Hello, stream',
    })
    const list = await api.json('GET', '/executions?state=completed&workflow_name=hello_world')
    expect(list).toMatchObject({ total: 3, limit: 50, offset: 0 })
  })

  test('file with three workflows: registers three, and each runs', async () => {
    const api = client(system().url)
    const rows = await api.upload(await example('three_workflows'))
    expect(rows).toHaveLength(3)
    for (const { namespace, name } of rows) {
      const done = await api.json('POST', `/workflows/${namespace}/${name}/run/sync`, 3)
      expect(done.state, JSON.stringify(done)).toBe('COMPLETED')
    }
    const again = await api.upload(await example('three_workflows'))
    expect(again.map(({ version }) => version)).toEqual([2, 2, 2])
    const namespaces: { namespace: string }[] = await api.json('GET', '/namespaces')
    expect(namespaces.map(({ namespace }) => namespace)).toEqual(
      expect.arrayContaining([...new Set(rows.map(({ namespace }) => namespace))]),
    )
  })

  test('paused workflow: continues with the body of the resume', async () => {
    const api = client(system().url)
    await api.upload(await example('approval_pause'))
    const { execution_id } = await api.run('approval_pause', 'async', { amount: 12 })
    const paused = await api.until(execution_id, 'PAUSED')
    const resumed = await api.json(
      'POST',
      `/workflows/default/approval_pause/resume/${execution_id}/sync`,
      { approved: true, by: 'me' },
    )
    expect(resumed, JSON.stringify(resumed)).toMatchObject({ state: 'COMPLETED', execution_id })
    expect(JSON.stringify(resumed.output)).toContain('me')
    const { events } = await api.status(execution_id)
    const types = events.map(({ type }: { type: string }) => type)
    expect(types.filter((type: string) => type === 'WORKFLOW_STARTED')).toHaveLength(1)
    expect(types).toEqual(
      expect.arrayContaining([
        'WORKFLOW_PAUSED',
        'WORKFLOW_RESUMING',
        'WORKFLOW_RESUMED',
        'WORKFLOW_COMPLETED',
      ]),
    )
    expect(events.slice(0, paused.events.length)).toEqual(paused.events)
  })

  test('cancel of a running workflow: ends it; mode=sync answers after the end', async () => {
    const api = client(system().url)
    await api.upload(await example('ten_tasks'))
    const { execution_id } = await api.run('ten_tasks', 'async', 5)
    await api.until(execution_id, 'RUNNING')
    const cancelled = await api.json(
      'GET',
      `/workflows/default/ten_tasks/cancel/${execution_id}?mode=sync`,
    )
    expect(cancelled).toMatchObject({ state: 'CANCELLED', execution_id })
    const response = await api.call('GET', `/workflows/default/ten_tasks/cancel/${execution_id}`)
    expect(response.status).toBe(400)
  })

  test('worker killed: another one finishes the execution, finished tasks ran once', async () => {
    const api = client(system().url)
    await api.upload(await example('ten_tasks'))
    const { execution_id } = await api.run('ten_tasks', 'async', 0.2)
    const completed = async () =>
      (await api.status(execution_id)).events.filter(
        ({ type }: { type: string }) => type === 'TASK_COMPLETED',
      ).length
    await expect.poll(completed, { interval: 20 }).toBeGreaterThanOrEqual(3)
    await first.end('SIGKILL')
    const before = await api.status(execution_id)
    await system().startWorker({ name: 'second' })
    const done = await api.until(execution_id, 'COMPLETED', 'FAILED')
    expect(done).toMatchObject({ state: 'COMPLETED', current_worker: 'second' })
    const tasks = done.events.filter(({ type }: { type: string }) => type === 'TASK_COMPLETED')
    expect(new Set(tasks.map(({ source_id }: { source_id: string }) => source_id)).size).toBe(10)
    expect(tasks).toHaveLength(10)
    expect(done.events.slice(0, before.events.length)).toEqual(before.events)
    const started = done.events.filter(({ type }: { type: string }) => type === 'TASK_STARTED')
    // Only the task that ran when the worker was killed has started twice.
    expect(started.length).toBeLessThanOrEqual(11)
  })
})
