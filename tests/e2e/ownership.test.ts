import { call } from '@windlass/testkit/http'
import type { ScriptedWorker } from '@windlass/testkit/scripted-worker'
import { expect, test } from 'vitest'
import {
  EVICTION_ENV,
  executionFixture,
  expectOk,
  expectStaleClaim,
  sharedSystem,
  TWO_OF_EACH,
} from './execution-fixture.ts'

const system = sharedSystem({
  replicas: TWO_OF_EACH,
  // Long enough for a claim on a busy machine; one test waits for its expiry.
  env: { ...EVICTION_ENV, SVC_EXECUTIONS__CLAIM_TIMEOUT: '10' },
})

/** Requests that only the claim holder may make, each with this claim generation. */
const writes = (worker: ScriptedWorker, id: string, generation?: number) => {
  const headers: Record<string, string> =
    generation === undefined ? {} : { 'x-svc-claim-generation': String(generation) }
  const task = JSON.stringify({ task_call_id: 'call_1', task_name: 'pay' })
  const secrets = JSON.stringify({ execution_id: id, names: [] })
  const event = { type: 'TASK_COMPLETED', value: '"stolen"' }
  return {
    progress: () =>
      worker.post(`progress/${id}`, {
        headers,
        body: '[{"task_id":"t","task_name":"t","value":1}]',
      }),
    secrets: () => worker.post('secrets/batch', { headers, body: secrets }),
    approval: () => worker.post(`approvals/${id}`, { headers, body: task }),
    'look at an approval': () => worker.get(`approvals/${id}/call_1`, headers),
    checkpoint: () => worker.checkpoint(id, { state: 'RUNNING', events: [event], generation }),
    end: () => worker.complete(id, generation, '"stolen"'),
    release: () => worker.release(id, generation),
  }
}

test('C2: hung worker resumes after another one has claimed: its writes change nothing', async () => {
  const a = await executionFixture(system())
  const [old] = a.workers as [ScriptedWorker]
  const id = await a.run()
  const before = await old.awaitAndClaim(id)
  old.hang()
  await a.until(id, 'SCHEDULED')
  const fresh = await a.startWorker({ url: a.two })
  const generation = await fresh.awaitAndClaim(id)
  expect(generation).toBeGreaterThan(before)
  const known = await a.read(id)
  for (const [what, write] of Object.entries({
    ...writes(old, id, before),
    ...Object.fromEntries(
      Object.entries(writes(old, id)).map(([name, one]) => [`${name} unfenced`, one]),
    ),
  }))
    expect((await write()).status, what).toBeOneOf([401, 403, 409])
  expect(await a.read(id)).toEqual(known)
  for (const write of [writes(fresh, id, before).checkpoint, writes(fresh, id, before).release])
    expectStaleClaim(await write())
  expectOk(await fresh.complete(id, generation, '"fresh"'))
  expect((await a.read(id)).output).toBe('fresh')
})

test('C3: each loss of ownership: raises the generation; writes with the old one get 409 at once', async () => {
  const a = await executionFixture(system())
  const [worker] = a.workers as [ScriptedWorker]
  const losses = {
    release: async (id: string, generation: number) =>
      expectOk(await worker.release(id, generation)),
    'no claim in time': async () => {},
    cancel: async (id: string) => expectOk(await a.cancel(id)),
  }
  const seen: Record<string, unknown> = {}
  for (const [loss, lose] of Object.entries(losses)) {
    const id = await a.run()
    await worker.nextFrame('execution_scheduled', id)
    const before = loss === 'release' ? await worker.claimGeneration(id) : 1
    worker.answersPings = true
    await lose(id, before)
    if (loss === 'cancel') {
      expect((await worker.claim(id)).status, loss).toBe(409)
      expectStaleClaim(await worker.complete(id, before))
      expect((await a.read(id)).state).toBe('CANCELLED')
      continue
    }
    const again = await worker.nextFrame('execution_scheduled', id)
    expectStaleClaim(await worker.complete(id, before))
    const generation = await worker.claimGeneration(again.execution_id)
    seen[loss] = generation
    expect(generation, loss).toBeGreaterThan(before + 1)
    expectStaleClaim(await worker.complete(id, before))
    expectOk(await worker.complete(id, generation))
  }
  expect(seen).toEqual({ release: 3, 'no claim in time': 3 })
})

test('C3: evicted worker writes before the next claim: 409', async () => {
  const a = await executionFixture(system())
  const [worker] = a.workers as [ScriptedWorker]
  const id = await a.run()
  const generation = await worker.awaitAndClaim(id)
  worker.hang()
  await a.until(id, 'SCHEDULED')
  const known = await a.read(id)
  for (const [what, write] of Object.entries(writes(worker, id, generation)))
    expect((await write()).status, what).toBeOneOf([401, 403, 409])
  expect((await worker.claim(id)).status).toBeOneOf([401, 409])
  expect(await a.read(id)).toEqual(known)
})

test('C4: write without a generation: needs the current session; non-numeric generation: 422', async () => {
  const a = await executionFixture(system(), 2)
  const id = await a.run()
  const [holder, other] = await a.waitForLease(id)
  const generation = await holder.claimGeneration(id)
  const known = await a.read(id)
  for (const [what, write] of Object.entries(writes(other, id)))
    expect((await write()).status, what).toBeOneOf([403, 409])
  for (const text of ['abc', '1.5', '-1', '', '9223372036854775808', '1 ', '0x1'])
    expect((await holder.checkpoint(id, { state: 'RUNNING', generation: text })).status, text).toBe(
      text === '1 ' ? 200 : 422,
    )
  for (const wrong of [generation - 1, generation + 1])
    expectStaleClaim(await holder.checkpoint(id, { state: 'RUNNING', generation: wrong }))
  expect((await a.read(id)).events).toEqual(known.events)
  // An older worker sends no generation and is identified by its session.
  expectOk(
    await holder.checkpoint(id, { state: 'RUNNING', events: [{ type: 'WORKFLOW_STARTED' }] }),
  )
  const session = holder.token
  const again = await a.worker({ name: holder.name })
  again.token = session
  await again.register()
  expectStaleClaim(await holder.checkpoint(id, { state: 'RUNNING' }, { token: again.token }))
  expect((await holder.complete(id, undefined, '1', { token: session })).status).toBeOneOf([
    401, 409,
  ])
  expect((await a.read(id)).state).toBe('SCHEDULED')
})

test('C5: write to an unclaimed execution, or a body with another id than the path: refused', async () => {
  const a = await executionFixture(system(), 4)
  const held = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const id = await a.run()
      const [holder, ...otherWorkers] = await a.waitForLease(id)
      return { id, holder, otherWorkers, generation: await holder.claimGeneration(id) }
    }),
  )
  const logs = () => Promise.all(held.map(({ id }) => a.read(id)))
  const known = await logs()
  const tries = held.flatMap(({ id, otherWorkers, generation }) =>
    otherWorkers.flatMap((other) => [
      ...Object.entries(writes(other, id)),
      ...Object.entries(writes(other, id, generation)),
    ]),
  )
  for (const [what, write] of tries) expect((await write()).status, what).toBeOneOf([403, 409])
  expect(await logs()).toEqual(known)
  const [one, two] = held as [(typeof held)[0], (typeof held)[0]]
  const { holder, generation } = one
  const crossed = await holder.checkpoint(one.id, { state: 'RUNNING', generation, body_id: two.id })
  expect(crossed.status).toBe(422)
  expect(crossed.json.detail[0].loc).toEqual(['body', 'execution_id'])
  await Promise.all(
    held.map(async (of) => expectOk(await of.holder.complete(of.id, of.generation))),
  )
})

test('N078: claim of an execution that is not claimable or absent: 409 or 404 with the reason', async () => {
  const a = await executionFixture(system(), 1)
  const [worker] = a.workers as [ScriptedWorker]
  const done = await a.run()
  expectOk(await worker.complete(done, await worker.awaitAndClaim(done)))
  const cancelled = await a.run()
  await worker.nextFrame('execution_scheduled', cancelled)
  expectOk(await a.cancel(cancelled))
  const paused = await a.run()
  expectOk(await worker.pause(paused, await worker.awaitAndClaim(paused)))
  for (const id of [done, cancelled, paused]) {
    const known = await a.read(id)
    const { status, json } = await worker.claim(id)
    expect([status, json.detail]).toEqual([
      409,
      `Cannot claim execution ${id}: current state is ${known.state}`,
    ])
    expect(await a.read(id)).toEqual(known)
  }
  const nothing = await worker.claim('0'.repeat(32))
  expect(nothing.status).toBe(404)
  for (const name of [`${worker.name}x`, worker.name.toUpperCase()]) {
    const path = `${a.one}/workers/${name}/claim/${done}`
    const headers = { authorization: `Bearer ${worker.token}` }
    expect((await call('POST', path, { headers })).status).toBe(403)
  }
})
