import type { HttpResponse } from '@windlass/testkit/http'
import type { ScriptedWorker } from '@windlass/testkit/scripted-worker'
import { eventId } from '@windlass/testkit/worker-checkpoint'
import { expect, test } from 'vitest'
import { CLAIMS_BY_DELIVERY, repeatUntilDelivered } from './delivered-frame.ts'
import {
  type ExecutionFixture,
  eventTypes,
  executionFixture,
  expectOk,
  expectStaleClaim,
  frameIdOf,
  lossyLinkTo,
  ROUNDS,
  repeat,
  sharedSystem,
  TWO_OF_EACH,
} from './execution-fixture.ts'

const PATIENT = 600_000
const system = sharedSystem({
  replicas: TWO_OF_EACH,
  // No lease expires before its claim, however busy the machine is.
  env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '600' },
})

/**
 * Waits for the frame of an execution and claims it with `claimAll`, which returns the answers. If all are refused, the
 * lease has ended since, because a process that does not run for a second counts as hung; then with the next frame.
 */
async function claimLease(
  a: ExecutionFixture,
  id: string,
  claimAll: (holder: ScriptedWorker) => Promise<HttpResponse[]>,
) {
  for (;;) {
    const frame = await a.waitForFrame(id)
    const claims = await claimAll(frame.holder)
    if (claims.some(({ status }) => status !== 409)) return { ...frame, claims }
  }
}

const generationOf = ({ headers }: HttpResponse) => Number(headers['x-svc-claim-generation'])

const otherThan = (holder: ScriptedWorker, { workers }: ExecutionFixture) =>
  workers.find((one) => one !== holder) ?? expect.unreachable()

const countClaims = async (a: ExecutionFixture, id: string) =>
  eventTypes(await a.read(id, a.two)).filter((type) => type === 'WORKFLOW_CLAIMED').length

test('C1: two workers claim at once through two gateways: exactly one gets the claim', {
  timeout: PATIENT,
}, async () => {
  const a = await executionFixture(system(), 2)
  await repeat(async () => {
    const id = await a.run()
    const { holder, claims } = await claimLease(a, id, (holder) => {
      const other = otherThan(holder, a)
      return Promise.all([
        holder.claim(id, { url: a.one }),
        other.claim(id, { url: a.two }),
        other.claim(id, { url: a.one }),
        holder.claim(id, { url: a.two }),
      ])
    })
    expect(claims.map(({ status }) => status)).toEqual([200, 409, 409, 200])
    const [first, , , second] = claims.map(generationOf)
    expect(first).toBe(second)
    expectOk(await holder.complete(id, first))
    expect(await countClaims(a, id)).toBe(1)
  })
})

test('C7: claim repeated after a lost response: same claim generation', {
  timeout: PATIENT,
}, async () => {
  const a = await executionFixture(system(), 2)
  const lossy = await lossyLinkTo(a.two)
  lossy.link.loseReplies()
  await repeat(async () => {
    const id = await a.run()
    const lease = await claimLease(a, id, async (holder) => {
      await expect(holder.claim(id, { url: lossy.url })).rejects.toThrow()
      return [await holder.claim(id)]
    })
    const { holder, claims } = lease
    const [second] = claims as [HttpResponse]
    expect(second.status, second.text).toBe(200)
    expect(frameIdOf(id, generationOf(second))).toBe(lease.id)
    expect((await otherThan(holder, a).claim(id)).status).toBe(409)
    expectOk(await holder.complete(id, generationOf(second)))
    expect(await countClaims(a, id)).toBe(1)
  })
  expect(lossy.link.lost).toBeGreaterThanOrEqual(ROUNDS)
})

test('C9: events of accepted checkpoints: in the log once and in order; of refused ones: absent', {
  timeout: PATIENT,
}, async () => {
  const a = await executionFixture(system())
  const [worker] = a.workers as [ScriptedWorker]
  await repeat(
    async (n) => {
      const id = await a.run(String(n))
      const { claims } = await claimLease(a, id, async () => [await worker.claim(id)])
      const [generation = 0] = claims.map(generationOf)
      const sentEvents = ['a', 'b', 'c', 'd'].map((value) => ({
        id: `${value}${id.slice(0, 15)}`,
        type: 'TASK_COMPLETED',
        value: `"${value}"`,
      }))
      const [first, second, third, last] = sentEvents as [
        (typeof sentEvents)[0],
        (typeof sentEvents)[0],
        (typeof sentEvents)[0],
        (typeof sentEvents)[0],
      ]
      const send = (events: typeof sentEvents, url: string, as = generation) =>
        worker.checkpoint(id, { state: 'RUNNING', events, generation: as }, { url })
      // Twice concurrently, then with one more event, then the first again.
      const twice = await Promise.all([send([first], a.one), send([first], a.two)])
      for (const answer of twice) expectOk(answer)
      expectOk(await send([first, second, third], a.one))
      expectOk(await send([first], a.two))
      expectStaleClaim(await send([last], a.two, generation + 1))
      expectStaleClaim(await send([{ ...last, id: `x${id.slice(0, 15)}` }], a.one, generation - 1))
      expectOk(await worker.complete(id, generation))
      expectStaleClaim(await send([last], a.two))
      const { events } = await a.read(id, a.two)
      const values = events.flatMap((event: { type: string; value: unknown }) =>
        event.type === 'TASK_COMPLETED' ? [event.value] : [],
      )
      expect(values).toEqual(['a', 'b', 'c'])
    },
    Math.ceil(ROUNDS / 5),
  )
})

test('C1, C9, D9: frame delivered twice: same id; one claim, each event once, none after the end', {
  timeout: PATIENT,
}, async () => {
  const a = await executionFixture(system(), 0)
  const { link, url } = await lossyLinkTo(a.one)
  const worker = await a.startWorker({ url, ...CLAIMS_BY_DELIVERY })
  link.repeatFrames()
  const first = await repeatUntilDelivered(a, async () =>
    worker.nextFrame('execution_scheduled', await a.run()),
  )
  const { execution_id: id, generation } = first
  const second = await worker.nextFrame('execution_scheduled', id)
  expect([second.id, second.text]).toEqual([frameIdOf(id, generation), first.text])
  // Both copies run: the same checkpoint at once, which is the claim, through both gateways.
  const begun = {
    ...{ state: 'RUNNING', generation },
    events: [{ id: eventId(), type: 'TASK_STARTED' }],
  }
  const urls = [a.one, a.two, a.one, a.two]
  for (const answer of await Promise.all(urls.map((url) => worker.checkpoint(id, begun, { url }))))
    expectOk(answer)
  expectOk(await worker.complete(id, generation))
  const known = await a.read(id)
  expect(eventTypes(known)).toEqual([
    'WORKFLOW_SCHEDULED',
    'WORKFLOW_CLAIMED',
    'TASK_STARTED',
    'WORKFLOW_COMPLETED',
  ])
  // One copy runs after the end.
  const again = { ...begun, events: [{ type: 'TASK_STARTED' }] }
  for (const url of urls) expectStaleClaim(await worker.checkpoint(id, again, { url }))
  expectStaleClaim(await worker.complete(id, generation, '"again"'))
  expect(await a.read(id)).toEqual(known)
})
