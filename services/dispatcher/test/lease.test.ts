import { expect, test } from 'vitest'
import { startDispatchers } from './dispatcher-fixture.ts'
import { anyRequirement } from './samples.ts'
import { type FakeStream, openStream } from './worker-fake.ts'

const work = ({ frames }: FakeStream) => frames.filter(({ event }) => event !== 'ping')
const ids = (stream: FakeStream) =>
  work(stream).map(({ data }) => JSON.parse(data ?? '').context.execution_id)

test('work queued, wake-up: dispatched at once', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const worker = name()
  const { session_id, stream } = await join({ name: worker })
  const requirement_id = executions.require(anyRequirement)
  const { execution_id } = executions.queue(requirement_id)
  publishReady(requirement_id)

  await expect.poll(() => work(stream)).toHaveLength(1)
  const [frame] = work(stream)
  expect(frame?.event).toBe('execution_scheduled')
  expect(frame?.id).toMatch(new RegExp(`^${execution_id}_[0-9a-f]{32}$`))
  expect(frame?.data).toContain('"input":{"n":9007199254740993}')
  expect(JSON.parse(frame?.data ?? '')).toMatchObject({
    workflow: { name: 'hello', source: Buffer.from('x = 1\n').toString('base64'), schedule: null },
    context: { execution_id, current_worker: worker },
  })
  expect(executions.leaseCalls.at(-1)?.offers).toEqual([
    {
      worker_name: worker,
      session_id,
      connection_generation: 1,
      capacity: 2,
      claims_by_delivery: false,
      continues_cancelled: false,
      requirement_ids: [requirement_id],
      facts: {},
      used: expect.any(Number),
    },
  ])
})

test('D1: work queued, no wake-up: dispatched within about a second', async () => {
  const { join, executions, name } = await startDispatchers()
  const { stream } = await join({ name: name() })
  await expect.poll(() => executions.listCalls.length).toBeGreaterThan(0)
  executions.queue(executions.require(anyRequirement))
  await expect.poll(() => work(stream)).toHaveLength(1)
})

test('worker connects while work is queued: dispatched to it', async () => {
  const { join, executions, name } = await startDispatchers()
  executions.queue(executions.require(anyRequirement))
  const { stream } = await join({ name: name() })
  await expect.poll(() => work(stream)).toHaveLength(1)
})

test('work with a requirement: only matching workers are offered', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const here = await join({ name: name(), labels: { zone: 'a' } })
  const there = await join({ name: name(), labels: { zone: 'b' } })
  const wanted = executions.require({ ...anyRequirement, affinity: { zone: 'b' } })
  const unmatchable = executions.require({ ...anyRequirement, cpu: 1_000 })
  executions.queue(unmatchable)
  executions.queue(wanted)
  publishReady(unmatchable)
  publishReady(wanted)

  await expect.poll(() => work(there.stream)).toHaveLength(1)
  expect(work(here.stream)).toEqual([])
  expect(executions.queued).toBe(1)
  const offered = executions.leaseCalls.flatMap(({ offers }) => offers)
  expect(offered.every(({ requirement_ids }) => !requirement_ids.includes(unmatchable))).toBe(true)
})

test('D2: unmatchable work queued first: matchable work is not delayed', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const { stream } = await join({ name: name() })
  for (let i = 0; i < 10_000; i++)
    executions.queue(executions.require({ ...anyRequirement, runner: `r${i}` }))
  await expect.poll(() => executions.listCalls.at(-1)?.known_ids.length).toBe(10_000)
  const requirement_id = executions.require(anyRequirement)
  executions.queue(requirement_id)
  const { length } = executions.leaseCalls
  publishReady(requirement_id)
  await expect.poll(() => work(stream)).toHaveLength(1)
  // Counted, not timed: behind 10,000 requirements it would take hundreds of calls. One call may be in
  // flight, one leases the work, and another may follow before the worker has the frame.
  expect(executions.leaseCalls.length - length).toBeLessThanOrEqual(3)
})

test('long queue for full workers, no wake-up: an idle worker gets other work', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const [full, zone] = [name(), { zone: 'full' }]
  executions.hold(full, 2)
  await join({ name: full, labels: zone })
  const { stream } = await join({ name: name() })
  const theirs = executions.require({ ...anyRequirement, affinity: zone })
  for (let i = 0; i < 200; i++) executions.queue(theirs)
  publishReady(theirs)
  await expect.poll(() => executions.leaseCalls.length).toBeGreaterThan(1)
  executions.queue(executions.require({ ...anyRequirement, affinity: { zone: 'a' } }))
  await expect.poll(() => work(stream)).toHaveLength(1)
})

test('slot freed on a full worker: the next work is dispatched at once', async () => {
  const { join, publishReady, publishSignal, executions, name } = await startDispatchers()
  const worker = name()
  const { stream } = await join({ name: worker })
  const requirement_id = executions.require(anyRequirement)
  for (let i = 0; i < 20; i++) executions.queue(requirement_id)
  publishReady(requirement_id)
  await expect.poll(() => work(stream)).toHaveLength(2)

  const polls: number[] = []
  for (let given = 3; given <= 20; given++) {
    const before = executions.listCalls.length
    executions.held.get(worker)?.splice(0, 1)
    publishSignal(worker, { $case: 'slot_freed', value: { slots: 1 } })
    await expect.poll(() => work(stream), { interval: 10 }).toHaveLength(given)
    polls.push(executions.listCalls.length - before)
  }
  expect(new Set(ids(stream)).size).toBe(20)
  // Each poll of the ready queue lists it first.
  expect(Math.min(...polls)).toBe(0)
})

test('lost slot_freed signal: the next work is dispatched within about a second', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const worker = name()
  const { stream } = await join({ name: worker })
  const requirement_id = executions.require(anyRequirement)
  for (let i = 0; i < 3; i++) executions.queue(requirement_id)
  publishReady(requirement_id)
  await expect.poll(() => work(stream)).toHaveLength(2)

  executions.held.get(worker)?.splice(0, 1)
  await expect.poll(() => work(stream)).toHaveLength(3)
})

test('many wake-ups: few leases, one at a time', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const { stream } = await join({ name: name(), max_concurrent_executions: 0 })
  const requirement_id = executions.require(anyRequirement)
  for (let i = 0; i < 200; i++) {
    executions.queue(requirement_id)
    publishReady(requirement_id)
  }
  await expect.poll(() => work(stream)).toHaveLength(200)
  expect(executions.maxInFlight).toBe(1)
  expect(executions.leaseCalls.length).toBeLessThan(20)
  expect(executions.fetched).toBe(1)
})

test('D7: unhealthy worker: nothing new until it is healthy, then work at once', async () => {
  const { join, publishReady, rpc, executions, name } = await startDispatchers()
  const worker = name()
  const { session_id, stream } = await join({ name: worker })
  await rpc.pong({ name: worker, session_id, healthy: false })
  const requirement_id = executions.require(anyRequirement)
  executions.queue(requirement_id)
  publishReady(requirement_id)
  const polls = executions.listCalls.length
  await expect.poll(() => executions.listCalls.length).toBeGreaterThan(polls)
  expect(executions.leaseCalls).toEqual([])

  await rpc.pong({ name: worker, session_id, healthy: true })
  await expect.poll(() => work(stream)).toHaveLength(1)
})

test('D7: pong at another dispatcher: a worker shown as unhealthy gets nothing', async () => {
  const { join, all, publishReady, executions, name } = await startDispatchers({ dispatchers: 2 })
  const worker = name()
  const { session_id, stream } = await join({ name: worker, max_concurrent_executions: 0 })
  const labels = { is: 'healthy' }
  const healthy = await join({ name: name(), max_concurrent_executions: 0, labels })
  const other = all[1]?.rpc ?? expect.unreachable()
  const status = async () => (await other.get({ name: worker })).status
  const forAnother = executions.require({ ...anyRequirement, affinity: labels })
  for (let flap = 1; flap <= 40; flap++) {
    await other.pong({ name: worker, session_id, healthy: false })
    await expect.poll(status, { interval: 1 }).toBe('unhealthy')
    const requirement_id = executions.require({ ...anyRequirement, affinity: { zone: 'a' } })
    for (const id of [requirement_id, forAnother]) {
      executions.queue(id)
      publishReady(id)
    }
    // After this worker got its work, everything queued has been offered to all matching workers.
    await expect.poll(() => work(healthy.stream), { interval: 5 }).toHaveLength(flap)
    expect(work(stream), `flap ${flap}`).toHaveLength(flap - 1)

    await other.pong({ name: worker, session_id, healthy: true })
    await expect.poll(() => work(stream), { interval: 5 }).toHaveLength(flap)
  }
})

test('registration while the stream is open: the new record applies at once', async () => {
  const { register, publishReady, executions, name, streams } = await startDispatchers()
  const worker = name()
  const instance = { instance: 'i1' }
  const { session_id } = await register({ name: worker }, instance)
  const stream = await openStream(streams, worker, session_id)
  const requirement_id = executions.require({ ...anyRequirement, affinity: { zone: 'b' } })
  executions.queue(requirement_id)
  publishReady(requirement_id)

  const proof = { ...instance, proven_session_id: session_id }
  await register({ name: worker, labels: { zone: 'b' } }, proof)
  await expect.poll(() => work(stream)).toHaveLength(1)
  expect(stream.ended).toBe(false)
})

test('reconnect during a lease: the work goes to the new stream', async () => {
  const { join, publishReady, executions, name, streams } = await startDispatchers()
  const worker = name()
  const { session_id, stream } = await join({ name: worker, max_concurrent_executions: 0 })
  const requirement_id = executions.require(anyRequirement)
  for (let i = 0; i < 50; i++) executions.queue(requirement_id)
  publishReady(requirement_id)
  const again = await openStream(streams, worker, session_id)
  await expect.poll(() => new Set([...ids(stream), ...ids(again)]).size).toBe(50)
})

test('workflow unavailable for a while: its work comes later, other work is not delayed', async () => {
  const { join, publishReady, executions, name } = await startDispatchers()
  const { stream } = await join({ name: name() })
  const workflow_id = 'd'.repeat(32)
  executions.unreachable.add(workflow_id)
  const requirement_id = executions.require(anyRequirement)
  const late = executions.queue(requirement_id, { workflow_id })
  const other = executions.queue(requirement_id)
  publishReady(requirement_id)
  await expect.poll(() => ids(stream)).toEqual([other.execution_id])
  executions.unreachable.delete(workflow_id)
  await expect.poll(() => ids(stream)).toEqual([other.execution_id, late.execution_id])
})

test('executions returns after an outage: leasing continues', async () => {
  const { join, executions, name } = await startDispatchers()
  executions.isDown = true
  const { stream } = await join({ name: name() })
  executions.queue(executions.require(anyRequirement))
  executions.isDown = false
  await expect.poll(() => work(stream)).toHaveLength(1)
})
