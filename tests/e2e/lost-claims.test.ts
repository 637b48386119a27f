import { expect, test } from 'vitest'
import {
  eventTypes,
  executionFixture,
  expectOk,
  expectStaleClaim,
  HANG_MS,
  sharedSystem,
} from './execution-fixture.ts'

const system = sharedSystem({
  linked: ['executions'],
  env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '3', SVC_EXECUTIONS__MAX_ATTEMPTS: '2' },
})

test.each(['execution_scheduled', 'execution_resumed'])(
  'C8: claim of %s whose answer is lost to a worker that does not ask again: dispatched again',
  { timeout: 3 * HANG_MS },
  async (event) => {
    const a = await executionFixture(system())
    const [worker = expect.unreachable()] = a.workers
    const id = await a.run()
    if (event === 'execution_resumed') {
      expectOk(await worker.pause(id, await worker.awaitAndClaim(id)))
      expectOk(await a.resume(id, '7'))
    }
    const links = system().linksTo('executions')
    // More often than max_attempts: a claim that its worker never learnt of is not an attempt.
    for (let lost = 0; lost < 3; lost++) {
      const frame = await worker.nextFrame(event, id)
      for (const link of links) link.loseReplies()
      const answer = await worker.claim(frame.execution_id)
      for (const link of links) link.heal()
      expect(answer.status, answer.text).toBe(503)
    }
    const generation = await worker.awaitAndClaim(id, event)
    expectStaleClaim(await worker.complete(id, generation - 1))
    expectOk(await worker.complete(id, generation))
    const { state, events } = await a.read(id)
    expect(state).toBe('COMPLETED')
    expect(eventTypes({ events }).filter((type) => type === 'WORKFLOW_COMPLETED')).toHaveLength(1)
  },
)

test('C8: claim whose answer was delivered, without a checkpoint: keeps its worker', {
  timeout: 2 * HANG_MS,
}, async () => {
  const a = await executionFixture(system())
  const [worker = expect.unreachable()] = a.workers
  const id = await a.run()
  const generation = await worker.awaitAndClaim(id)
  const explained = async () => (await a.send('GET', `/executions/${id}/explain`)).json
  expect(await explained()).toMatchObject({ held_by: worker.name })
  await expect
    .poll(explained, { timeout: HANG_MS })
    .toMatchObject({ state: 'CLAIMED', held_by: worker.name, deadline_at: null })
  expectOk(await worker.complete(id, generation))
})
