import { expect, onTestFinished, test } from 'vitest'
import { type registration, startDispatchers } from './dispatcher-fixture.ts'
import { anyRequirement } from './samples.ts'
import type { FakeStream } from './worker-fake.ts'

const work = ({ frames }: FakeStream) => frames.filter(({ event }) => event !== 'ping')

/** Starts a dispatcher that has dispatched work of one requirement and now waits for more. */
async function idleDispatcher(
  change: Parameters<typeof registration>[0] = {},
  instance: Parameters<typeof registration>[1] = {},
) {
  const system = await startDispatchers()
  const { join, executions, publishReady, name } = system
  const worker = name()
  const joined = await join({ name: worker, max_concurrent_executions: 8, ...change }, instance)
  const requirement_id = executions.require(anyRequirement)
  executions.queue(requirement_id)
  publishReady(requirement_id)
  await expect.poll(() => work(joined.stream)).toHaveLength(1)
  const waiting = () => executions.offered
  await expect.poll(waiting).toEqual([worker])
  return { ...system, ...joined, worker, requirement_id, waiting }
}

test('empty queue: workers with free slots are offered for the next work', async () => {
  const { executions, worker, stream, waiting, session_id, requirement_id } = await idleDispatcher()
  const [wait] = executions.waits
  expect(wait?.offers).toEqual([
    {
      worker_name: worker,
      session_id,
      connection_generation: 1,
      capacity: 8,
      claims_by_delivery: false,
      continues_cancelled: false,
      requirement_ids: [requirement_id],
      facts: {},
      used: 1,
    },
  ])
  const execution = executions.assign(worker)
  await expect.poll(() => work(stream)).toHaveLength(2)
  expect(work(stream)[1]?.data).toContain(execution?.execution_id)
  await expect.poll(waiting).toEqual([worker])
  expect([...executions.waits][0]?.offers[0]?.used).toBe(2)
})

test('a worker that registers with, or without, claims by delivery: its offers say so', async () => {
  const same = { instance: 'i' }
  const { executions, worker, waiting, register, session_id } = await idleDispatcher({}, same)
  const offered = () => [...executions.waits][0]?.offers[0]?.claims_by_delivery
  expect(offered()).toBe(false)
  const again = { ...same, proven_session_id: session_id }
  for (const claims_by_delivery of [true, undefined]) {
    await register({ name: worker, max_concurrent_executions: 8 }, { ...again, claims_by_delivery })
    await expect.poll(waiting).toEqual([worker])
    await expect.poll(offered).toBe(claims_by_delivery ?? false)
  }
})

test('a worker that keeps workflows: each is sent once on a connection', async () => {
  const joined = { instance: 'i', keeps_workflows: true }
  const { executions, worker, stream, waiting, join, session_id } = await idleDispatcher({}, joined)
  const dispatch = async ({ frames }: FakeStream) => {
    const count = frames.length
    await expect.poll(waiting).toEqual([worker])
    executions.assign(worker, { workflow_id: 'f'.repeat(32) })
    await expect.poll(() => frames.slice(count).some(({ event }) => event !== 'ping')).toBe(true)
    const { workflow, keep_workflow } = JSON.parse(
      work({ frames } as FakeStream).at(-1)?.data ?? '',
    )
    return [typeof workflow.source, keep_workflow]
  }
  expect(await dispatch(stream)).toEqual(['string', true])
  expect(await dispatch(stream)).toEqual(['undefined', undefined])
  const again = { ...joined, proven_session_id: session_id }
  const change = { name: worker, max_concurrent_executions: 8 }
  expect(await dispatch((await join(change, again)).stream)).toEqual(['string', true])
})

test('unhealthy or disconnected worker: its offer ends at once', async () => {
  const { rpc, worker, session_id, stream, waiting } = await idleDispatcher()
  await rpc.pong({ name: worker, session_id, healthy: false })
  await expect.poll(waiting).toEqual([])
  await rpc.pong({ name: worker, session_id, healthy: true })
  await expect.poll(waiting).toEqual([worker])
  stream.kill()
  await expect.poll(waiting).toEqual([])
})

test('a wait is answered: another is open meanwhile', async () => {
  const { executions, worker, stream } = await idleDispatcher()
  await expect.poll(() => executions.waits.size).toBe(2)
  const both = [executions.assign(worker), executions.assign(worker)]
  await expect.poll(() => work(stream)).toHaveLength(3)
  const sent = work(stream).map(({ data }) => JSON.parse(data ?? '').context.execution_id)
  expect(sent.slice(1).sort()).toEqual(both.map((execution) => execution?.execution_id).sort())
  await expect.poll(() => executions.waits.size).toBe(2)
})

test('full worker: not offered until a slot is freed', async () => {
  const { executions, worker, waiting, publishSignal } = await idleDispatcher({
    max_concurrent_executions: 2,
  })
  executions.assign(worker)
  await expect.poll(waiting).toEqual([])
  publishSignal(worker, { $case: 'slot_freed', value: { slots: 1 } })
  await expect.poll(waiting).toEqual([worker])
})

test('assignment already counted by a lease: the load is not raised again', async () => {
  const { executions, worker, stream, waiting, publishReady, publishSignal } =
    await idleDispatcher()
  executions.ignoresAnswerNow = true
  executions.hold(worker, 1)
  const other = executions.require({ ...anyRequirement, affinity: { zone: 'a' } })
  executions.queue(other)
  publishReady(other)
  await expect.poll(() => work(stream)).toHaveLength(2)
  executions.ignoresAnswerNow = false
  executions.assign(worker)
  await expect.poll(() => work(stream)).toHaveLength(3)
  publishSignal(worker, { $case: 'slot_freed', value: { slots: 3 } })
  executions.held.delete(worker)
  const offered = () =>
    [...executions.waits].flatMap(({ offers }) => offers.map(({ used }) => used))
  await expect.poll(waiting).toEqual([worker])
  await expect.poll(offered).toContain(0)
})

test('work that only a disconnected worker meets: others wait for other work', async () => {
  const { executions, publishReady, waiting, join, name, worker } = await idleDispatcher()
  const [full, labels] = [name(), { only: 'this' }]
  executions.hold(full, 1)
  const { stream } = await join({ name: full, labels, max_concurrent_executions: 1 })
  const theirs = executions.require({ ...anyRequirement, affinity: labels })
  executions.queue(theirs)
  publishReady(theirs)
  await expect.poll(waiting).toEqual([])
  stream.kill()
  await expect.poll(waiting).toEqual([worker])
})

test('worker connects: it joins the wait', async () => {
  const { join, name, worker, waiting } = await idleDispatcher()
  const other = name()
  await join({ name: other })
  await expect.poll(waiting).toEqual([worker, other].sort())
})

test('matchable work is queued: no wait precedes it', async () => {
  const { executions, publishReady, waiting, join, name } = await idleDispatcher()
  const [full, labels] = [name(), { only: 'this' }]
  await join({ name: full, labels, max_concurrent_executions: 1 })
  executions.hold(full, 1)
  const theirs = executions.require({ ...anyRequirement, affinity: labels })
  executions.queue(theirs)
  publishReady(theirs)
  await expect.poll(waiting).toEqual([])
})

test('much unmatchable work: workers still wait for other work', async () => {
  const { executions, publishReady, worker, requirement_id } = await idleDispatcher()
  for (let cpu = 1_000; cpu < 1_100; cpu++) {
    const unmatchable = executions.require({ ...anyRequirement, cpu })
    executions.queue(unmatchable)
    publishReady(unmatchable)
  }
  const listed = () => executions.listCalls.at(-1)?.known_ids.length
  await expect.poll(listed).toBe(101)
  const offered = () => [...executions.waits].map(({ offers }) => offers)
  const offer = expect.objectContaining({ worker_name: worker, requirement_ids: [requirement_id] })
  await expect.poll(offered).toEqual([[offer], [offer]])
})

test('assignment to an earlier session: released under its own claim', async () => {
  const { executions, worker, session_id } = await idleDispatcher()
  const execution = executions.assign(worker, { worker_session: 'an earlier one' })
  await expect.poll(() => executions.commands).toHaveLength(1)
  expect(executions.commands).toMatchObject([
    {
      execution_id: execution?.execution_id,
      body: {
        $case: 'release',
        value: {
          writer: { worker_name: worker, session_id: 'an earlier one', claim_generation: 1 },
        },
      },
    },
  ])
  expect(session_id).not.toBe('an earlier one')
})

test('assignment crosses the disconnect of its worker: released', async () => {
  const { executions, worker, stream, rpc } = await idleDispatcher()
  executions.ignoresAnswerNow = true
  stream.kill()
  await expect.poll(async () => (await rpc.get({ name: worker })).status).not.toBe('online')
  const execution = executions.assign(worker)
  await expect
    .poll(() => executions.commands.map(({ execution_id }) => execution_id))
    .toEqual([execution?.execution_id])
})

test('dispatcher stops: its waits end', async () => {
  const { executions, stop } = await idleDispatcher()
  await stop()
  expect(executions.waits.size).toBe(0)
})

test('executions without AwaitWork: work comes by wake-up; logged once', async () => {
  const { executions, publishReady, join, name, logged } = await startDispatchers({
    hasAwaitWork: false,
  })
  const labels = { only: 'this' }
  const { stream } = await join({ name: name(), max_concurrent_executions: 8, labels })
  const requirement_id = executions.require({ ...anyRequirement, affinity: labels })
  const MESSAGE = 'executions has no AwaitWork'
  for (let i = 1; i <= 4; i++) {
    executions.queue(requirement_id)
    publishReady(requirement_id)
    await expect.poll(() => work(stream)).toHaveLength(i)
    await expect.poll(logged).toContain(MESSAGE)
    // A worker that connects starts another round.
    await join({ name: name() })
  }
  expect(logged().split(MESSAGE)).toHaveLength(2)
  expect(logged()).not.toContain('failed to wait for work')
})

test('worker wrongly estimated as full: gets work within about a second', async () => {
  const { executions, worker, stream, publishReady, requirement_id } = await idleDispatcher({
    max_concurrent_executions: 2,
  })
  executions.assign(worker)
  await expect.poll(() => work(stream)).toHaveLength(2)
  // The dispatcher has received no signal that the worker is idle again.
  executions.held.delete(worker)
  const unmatchableWork = setInterval(() => {
    const unmatchable = executions.require({ ...anyRequirement, cpu: 1_000 })
    executions.queue(unmatchable)
    publishReady(unmatchable)
  }, 100)
  onTestFinished(() => clearInterval(unmatchableWork))
  executions.queue(requirement_id)
  publishReady(requirement_id)
  await expect.poll(() => work(stream)).toHaveLength(3)
})
