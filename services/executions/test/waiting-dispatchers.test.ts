import { expect, test } from 'vitest'
import { lockWorkers } from '../src/store/ready.ts'
import { create, get, keepActive, submit, worker } from './executions-fixture.ts'
import { wait, waitingFixture } from './waiting-fixture.ts'

test('queued work: goes to the waiting dispatcher at once, without a wake-up', async () => {
  const { client, queue, offer, countWakeUps } = await waitingFixture()
  const { waiting } = await wait(client, [offer('w1')])
  const { execution_id } = await queue()
  const { leases, more } = await waiting
  expect(more).toBe(false)
  expect(leases).toMatchObject([
    {
      execution: {
        execution_id,
        state: 'SCHEDULED',
        worker_name: 'w1',
        worker_session: 'session of w1',
        claim_generation: 1,
        input_json: '{"n":9007199254740993}',
      },
      log: [{ type: 'WORKFLOW_SCHEDULED' }],
      resumed: false,
    },
  ])
  expect(leases[0]?.execution_token).not.toBe('')
  expect(await countWakeUps()).toBe(0)
  const w = worker(client, 'w1')
  expect(await w.claim(execution_id)).toMatchObject({ state: 'CLAIMED' })
})

test('several waiting dispatchers: the least loaded worker gets it, the others keep waiting', async () => {
  const { client, queue, offer } = await waitingFixture()
  const busy = await wait(client, [offer('busy', { used: 3 }), offer('busier', { used: 4 })])
  const free = await wait(client, [offer('free', { used: 1 })])
  const first = await queue()
  expect((await free.waiting).leases).toMatchObject([{ execution: { worker_name: 'free' } }])
  const second = await queue()
  expect((await busy.waiting).leases).toMatchObject([{ execution: { worker_name: 'busy' } }])
  expect((await get(client, first.execution_id)).worker_name).toBe('free')
  expect((await get(client, second.execution_id)).worker_name).toBe('busy')
})

test('a dispatcher with two waits: work through one counts in the offers of the other', async () => {
  const { client, queue, offer, countWakeUps } = await waitingFixture()
  const used = (one: number, two: number) => [
    offer('w1', { capacity: 2, used: one }),
    offer('w2', { capacity: 2, used: two }),
  ]
  const waits = [await wait(client, used(0, 1)), await wait(client, used(0, 1))]
  await queue()
  await queue()
  const leases = (await Promise.all(waits.map(({ waiting }) => waiting))).flatMap(
    (one) => one.leases,
  )
  const workers = leases.map(({ execution }) => execution?.worker_name)
  expect(workers.sort()).toEqual(['w1', 'w1'])
  const last = await wait(client, used(2, 1))
  const answerNow = new AbortController()
  const same = await wait(client, used(2, 1), { answerNow: answerNow.signal })
  await queue()
  expect((await last.waiting).leases).toMatchObject([{ execution: { worker_name: 'w2' } }])
  expect(await countWakeUps()).toBe(0)
  const { execution_id } = await queue()
  await expect.poll(countWakeUps).toBe(1)
  expect(await get(client, execution_id)).toMatchObject({ worker_name: '' })
  answerNow.abort()
  expect(await same.waiting).toEqual({ leases: [], loads: [], more: false })
})

test('many queued at once: all free slots are filled, the rest is announced', async () => {
  const { client, requirement, offer, countWakeUps, wakeUps } = await waitingFixture()
  const few = await wait(client, [offer('a', { capacity: 2 }), offer('b', { capacity: 1 })])
  const { results } = await client.submit({
    commands: Array.from({ length: 5 }, () => create({ requirement })),
  })
  expect(results).toHaveLength(5)
  const { leases } = await few.waiting
  expect(leases.length).toBeGreaterThanOrEqual(1)
  expect(leases.length).toBeLessThanOrEqual(3)
  await expect.poll(async () => (await countWakeUps()) && wakeUps.length).toBeGreaterThan(0)
})

test('a full worker: gets nothing, and the work is announced to all dispatchers', async () => {
  const { client, queue, offer, wakeUps } = await waitingFixture()
  const held = await queue()
  await worker(client, 'w1').lease()
  expect((await get(client, held.execution_id)).worker_name).toBe('w1')
  // The offer is outdated: the dispatcher does not know yet what the worker holds.
  const { waiting } = await wait(client, [offer('w1', { capacity: 1 })])
  wakeUps.length = 0
  const { execution_id } = await queue()
  expect(await waiting).toEqual({ leases: [], loads: [], more: false })
  expect(await get(client, execution_id)).toMatchObject({ worker_name: '', claim_generation: 0 })
  await expect.poll(() => wakeUps.length).toBeGreaterThan(0)
})

test('work with a preference or an expired lease: not assigned to a waiting dispatcher', async () => {
  const { client, queue, offer, wakeUps } = await waitingFixture()
  const { waiting } = await wait(client, [offer('w1')])
  await queue({ preferred_worker: 'another' })
  await expect.poll(() => wakeUps.length).toBe(1)
  await queue()
  expect((await waiting).leases).toMatchObject([{ execution: { worker_name: 'w1' } }])
})

test('a wait for other requirements: gets nothing', async () => {
  const { client, queue, offer, wakeUps } = await waitingFixture()
  const { waiting } = await wait(client, [offer('w1', { requirement_ids: ['f'.repeat(32)] })])
  await queue()
  await expect.poll(() => wakeUps.length).toBe(1)
  await submit(client, create({ requirement: { packages: [], affinity: {}, runner: 'x' } }))
  const nothing = { leases: [], loads: [], more: false }
  expect(await Promise.race([waiting, Promise.resolve(nothing)])).toEqual(nothing)
})

test('a wait: ends at its time limit, on request, and when the replica stops', async () => {
  const { client, offer, another } = await waitingFixture()
  const nothing = { leases: [], loads: [], more: false }
  expect(await client.awaitWork({ offers: [offer('w1')], wait_ms: 20 })).toEqual(nothing)

  const answerNow = new AbortController()
  const earlier = await wait(client, [offer('w1')])
  const { waiting } = await wait(client, [offer('w1')], { answerNow: answerNow.signal })
  answerNow.abort()
  const first = await Promise.race([
    waiting.then(() => 'the one that was asked'),
    earlier.waiting.then(() => 'the one whose time is up'),
  ])
  expect(first).toBe('the one that was asked')
  expect(await waiting).toEqual(nothing)

  const leaving = await another()
  await leaving.stop()
})

test('work queued after a wait has ended: stays in the queue', async () => {
  const { client, queue, offer, wakeUps } = await waitingFixture()
  const leave = new AbortController()
  const waiting = client.awaitWork(
    { offers: [offer('w1')], wait_ms: 5_000 },
    { signal: leave.signal },
  )
  await client.listReady({ known_ids: [] })
  leave.abort()
  await expect(waiting).rejects.toThrow()
  await client.listReady({ known_ids: [] })
  const { execution_id } = await queue()
  await expect.poll(() => wakeUps.length).toBe(1)
  expect(await get(client, execution_id)).toMatchObject({ worker_name: '', state: 'SCHEDULED' })
})

test('two replicas: work queued at either one is assigned or announced', async () => {
  const { client, queue, offer, wakeUps } = await waitingFixture(2)
  let leasedCount = 0
  for (let i = 0; i < 6; i++) {
    const waiting = client.awaitWork({ offers: [offer('w1')], wait_ms: 400 })
    await queue()
    leasedCount += (await waiting).leases.length
  }
  await expect.poll(() => leasedCount + wakeUps.length).toBeGreaterThanOrEqual(6)
})

test('released work: goes to a waiting dispatcher', async () => {
  const { client, queue, offer } = await waitingFixture()
  const first = await wait(client, [offer('w1')])
  const { execution_id } = await queue()
  expect((await first.waiting).leases).toHaveLength(1)
  const { waiting } = await wait(client, [offer('w2')])
  const w1 = worker(client, 'w1')
  await w1.claim(execution_id)
  expect(await w1.release(execution_id, 1)).toMatchObject({ state: 'SCHEDULED' })
  expect((await waiting).leases).toMatchObject([
    { execution: { execution_id, worker_name: 'w2', claim_generation: 3 } },
  ])
})

test('a repeated create: leased once, whatever dispatchers wait', async () => {
  const { client, requirement, offer } = await waitingFixture()
  const command = create({ requirement })
  const first = await wait(client, [offer('w1')])
  const second = await wait(client, [offer('w2', { used: 1 })])
  await client.submit({ commands: [command, command] })
  await submit(client, command)
  const answers = await Promise.all([first.waiting, second.waiting])
  expect(answers.map(({ leases }) => leases.length)).toEqual([1, 0])
  expect(await get(client, command.execution_id)).toMatchObject({
    worker_name: 'w1',
    claim_generation: 1,
    last_seq: 1,
  })
})

test('D5: a process hangs with the lock of a worker: work is created in time and leased later', async () => {
  const { client, db, queue, offer, wakeUps } = await waitingFixture()
  const created: string[] = []
  await db.tx(async (tx) => {
    await lockWorkers(tx, ['w1'])
    const stopActivity = keepActive(tx)
    for (let i = 0; i < 3; i++) {
      const { waiting } = await wait(client, [offer('w1')])
      created.push((await queue()).execution_id)
      expect((await waiting).leases).toEqual([])
    }
    await expect.poll(() => wakeUps.length).toBe(3)
    stopActivity()
  })
  for (const id of created)
    expect(await get(client, id)).toMatchObject({ worker_name: '', claim_generation: 0 })
  const { leases } = await worker(client, 'w1').lease()
  expect(leases.map(({ execution }) => execution?.execution_id)).toEqual(created)
})
