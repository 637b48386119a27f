import { expect, onTestFinished, test } from 'vitest'
import { type registration, startDispatchers } from './dispatcher-fixture.ts'
import { anyRequirement } from './executions-fake.ts'
import type { FakeStream } from './worker-fake.ts'

const work = ({ frames }: FakeStream) => frames.filter(({ event }) => event !== 'ping')

/** A dispatcher that has seen work of one kind, and has nothing to do. */
async function idle(change: Parameters<typeof registration>[0] = {}) {
  const system = await startDispatchers()
  const { join, executions, ready, name } = system
  const worker = name()
  const joined = await join({ name: worker, max_concurrent_executions: 8, ...change })
  const requirement_id = executions.require(anyRequirement)
  executions.queue(requirement_id)
  ready(requirement_id)
  await expect.poll(() => work(joined.stream)).toHaveLength(1)
  const waiting = () =>
    [...executions.waits].flatMap(({ offers }) => offers.map(({ worker_name }) => worker_name))
  await expect.poll(waiting).toEqual([worker])
  return { ...system, ...joined, worker, requirement_id, waiting }
}

test('while nothing is queued the workers with room wait for what is queued next', async () => {
  const { executions, worker, stream, waiting, session_id, requirement_id } = await idle()
  const [wait] = executions.waits
  expect(wait?.offers).toEqual([
    {
      worker_name: worker,
      session_id,
      connection_generation: 1,
      capacity: 8,
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

test('who is full, unwell or gone waits for nothing, at once', async () => {
  const { rpc, worker, session_id, stream, waiting } = await idle()
  await rpc.pong({ name: worker, session_id, healthy: false })
  await expect.poll(waiting).toEqual([])
  await rpc.pong({ name: worker, session_id, healthy: true })
  await expect.poll(waiting).toEqual([worker])
  stream.kill()
  await expect.poll(waiting).toEqual([])
})

test('a worker that has no room left does not wait, and waits again when it has', async () => {
  const { executions, worker, waiting, tell } = await idle({ max_concurrent_executions: 2 })
  executions.assign(worker)
  await expect.poll(waiting).toEqual([])
  tell(worker, { $case: 'slot_freed', value: { slots: 1 } })
  await expect.poll(waiting).toEqual([worker])
})

test('what a lease has counted already is not counted again when it comes in answer to a wait', async () => {
  const { executions, worker, stream, waiting, ready, tell } = await idle()
  executions.ignoresAnswerNow = true
  executions.hold(worker, 1)
  const other = executions.require({ ...anyRequirement, affinity: { zone: 'a' } })
  executions.queue(other)
  ready(other)
  await expect.poll(() => work(stream)).toHaveLength(2)
  executions.ignoresAnswerNow = false
  executions.assign(worker)
  await expect.poll(() => work(stream)).toHaveLength(3)
  tell(worker, { $case: 'slot_freed', value: { slots: 3 } })
  executions.held.delete(worker)
  const offered = () =>
    [...executions.waits].flatMap(({ offers }) => offers.map(({ used }) => used))
  await expect.poll(waiting).toEqual([worker])
  await expect.poll(offered).toEqual([0])
})

test('work of a worker that left keeps nobody from waiting for other work', async () => {
  const { executions, ready, waiting, join, name, worker } = await idle()
  const [full, labels] = [name(), { only: 'this' }]
  executions.hold(full, 1)
  const { stream } = await join({ name: full, labels, max_concurrent_executions: 1 })
  const theirs = executions.require({ ...anyRequirement, affinity: labels })
  executions.queue(theirs)
  ready(theirs)
  await expect.poll(waiting).toEqual([])
  stream.kill()
  await expect.poll(waiting).toEqual([worker])
})

test('a worker that comes waits with the others', async () => {
  const { executions, join, name, worker, waiting } = await idle()
  const other = name()
  await join({ name: other })
  await expect.poll(() => waiting().sort()).toEqual([worker, other].sort())
  expect(executions.waits.size).toBe(1)
})

test('while something is queued that a worker here can do nobody waits in front of it', async () => {
  const { executions, ready, waiting, join, name } = await idle()
  const [full, labels] = [name(), { only: 'this' }]
  await join({ name: full, labels, max_concurrent_executions: 1 })
  executions.hold(full, 1)
  const theirs = executions.require({ ...anyRequirement, affinity: labels })
  executions.queue(theirs)
  ready(theirs)
  await expect.poll(waiting).toEqual([])
})

test('work that nobody can do keeps nobody from waiting for other work, however much it is', async () => {
  const { executions, ready, worker, requirement_id } = await idle()
  for (let cpu = 1_000; cpu < 1_100; cpu++) {
    const nobody = executions.require({ ...anyRequirement, cpu })
    executions.queue(nobody)
    ready(nobody)
  }
  const listed = () => executions.listCalls.at(-1)?.known_ids.length
  await expect.poll(listed).toBe(101)
  const offered = () => [...executions.waits].flatMap(({ offers }) => offers)
  await expect
    .poll(offered)
    .toEqual([expect.objectContaining({ worker_name: worker, requirement_ids: [requirement_id] })])
})

test('work whose worker has just left is handed back under its own claim', async () => {
  const { executions, worker, session_id } = await idle()
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

test('work that crosses the end of its worker is handed back', async () => {
  const { executions, worker, stream, rpc } = await idle()
  executions.ignoresAnswerNow = true
  stream.kill()
  await expect.poll(async () => (await rpc.get({ name: worker })).status).not.toBe('online')
  const execution = executions.assign(worker)
  await expect
    .poll(() => executions.commands.map(({ execution_id }) => execution_id))
    .toEqual([execution?.execution_id])
})

test('a dispatcher that stops lets go of what it waits for', async () => {
  const { executions, stop } = await idle()
  await stop()
  expect(executions.waits.size).toBe(0)
})

test('beside an older executions work comes by nudge, and that is said once', async () => {
  const { executions, ready, join, name, logged } = await startDispatchers({ older: true })
  const labels = { only: 'this' }
  const { stream } = await join({ name: name(), max_concurrent_executions: 8, labels })
  const requirement_id = executions.require({ ...anyRequirement, affinity: labels })
  const SAID = 'executions is older'
  for (let i = 1; i <= 4; i++) {
    executions.queue(requirement_id)
    ready(requirement_id)
    await expect.poll(() => work(stream)).toHaveLength(i)
    await expect.poll(logged).toContain(SAID)
    // One more that comes begins another round.
    await join({ name: name() })
  }
  expect(logged().split(SAID)).toHaveLength(2)
  expect(logged()).not.toContain('cannot be waited for')
})

test('a worker that is wrongly believed to be full gets work within about a second, whatever else is queued', async () => {
  const { executions, worker, stream, ready, requirement_id } = await idle({
    max_concurrent_executions: 2,
  })
  executions.assign(worker)
  await expect.poll(() => work(stream)).toHaveLength(2)
  // Its dispatcher has not heard that it holds nothing any more.
  executions.held.delete(worker)
  const strange = setInterval(() => {
    const nobody = executions.require({ ...anyRequirement, cpu: 1_000 })
    executions.queue(nobody)
    ready(nobody)
  }, 100)
  onTestFinished(() => clearInterval(strange))
  executions.queue(requirement_id)
  ready(requirement_id)
  await expect.poll(() => work(stream)).toHaveLength(3)
})
