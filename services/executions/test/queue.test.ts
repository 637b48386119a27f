import { QueueService } from '@windlass/proto/windlass/executions/v1/executions'
import { newId } from '@windlass/runtime/ids'
import { clientOf } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { cancel, run, setup, worker } from './executions-fixture.ts'

async function open() {
  const { client, ports } = await setup()
  const queue = clientOf(
    QueueService,
    ports.map((port) => `127.0.0.1:${port}`),
  )
  onTestFinished(() => queue.close())
  return { client, explain: (execution_id: string) => queue.explain({ execution_id }), queue }
}

const requirement = (label: string) => ({ packages: [], affinity: { label }, runner: '', cpu: 2 })

test('queue position: counts work with the same requirement only', async () => {
  const { client, explain } = await open()
  const ids: string[] = []
  for (const label of ['a', 'b', 'a', 'a'])
    ids.push((await run(client, { requirement: requirement(label) })).execution_id)
  const positions = async () => {
    const answers = await Promise.all(ids.map(explain))
    return answers.map(({ queue_position }) => queue_position)
  }
  expect(await positions()).toEqual([1, 1, 2, 3])
  await cancel(client, ids[0] ?? '')
  expect(await positions()).toEqual([0, 1, 1, 2])
  expect(await explain(ids[3] ?? '')).toMatchObject({
    state: 'SCHEDULED',
    requirement: requirement('a'),
    queued_at: expect.any(Date),
    held_by: '',
    deadline_at: undefined,
  })
})

test('leased work: no queue position, but its holder and deadline', async () => {
  const { client, explain, queue } = await open()
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  const leased = await explain(execution_id)
  expect(leased).toMatchObject({
    state: 'SCHEDULED',
    queue_position: 0,
    queued_at: undefined,
    held_by: w.worker_name,
  })
  expect(leased.deadline_at?.getTime()).toBeGreaterThan(Date.now())
  await w.claim(execution_id)
  expect(await explain(execution_id)).toMatchObject({ state: 'CLAIMED', held_by: w.worker_name })
  expect(await queue.loads({ worker_names: [w.worker_name, 'idle'] })).toEqual({
    loads: [{ worker_name: w.worker_name, used: 1 }],
  })
})

test('an unknown execution cannot be explained: not_found', async () => {
  const { explain } = await open()
  await expect(explain(newId())).rejects.toMatchObject({ kind: 'not_found' })
})
