import { LossyLink } from '@windlass/testkit/lossy-link'
import type { ScriptedWorker } from '@windlass/testkit/scripted-worker'
import { expect, onTestFinished, test } from 'vitest'
import {
  eventTypes,
  executionFixture,
  expectOk,
  expectStaleClaim,
  HANG_MS,
  ROUNDS,
  repeat,
  sharedSystem,
  TWO_OF_EACH,
} from './execution-fixture.ts'

const PATIENT = 600_000
const system = sharedSystem({
  replicas: TWO_OF_EACH,
  // Long enough for a claim on a busy machine, short enough for the tests that wait for its expiry.
  env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '4', SVC_EXECUTIONS__MAX_ATTEMPTS: '1000' },
})

const portOf = (url: string) => Number(new URL(url).port)

async function linkTo(url: string) {
  const link = await LossyLink.to(portOf(url))
  onTestFinished(() => link.stop())
  return { link, url: `http://127.0.0.1:${link.port}` }
}

test('C1: two workers claim at once through two gateways: exactly one gets the claim', {
  timeout: PATIENT,
}, async () => {
  const a = await executionFixture(system(), 2)
  await repeat(async () => {
    const id = await a.run()
    const [holder, other] = await a.waitForLease(id)
    const claims = await Promise.all([
      holder.claim(id, { url: a.one }),
      other.claim(id, { url: a.two }),
      other.claim(id, { url: a.one }),
      holder.claim(id, { url: a.two }),
    ])
    expect(claims.map(({ status }) => status)).toEqual([200, 409, 409, 200])
    const generations = [claims[0], claims[3]].map(
      (claim) => claim?.headers['x-svc-claim-generation'],
    )
    expect(generations).toEqual(['1', '1'])
    expectOk(await holder.complete(id, 1))
    const { events } = await a.read(id, a.two)
    expect(eventTypes({ events }).filter((type) => type === 'WORKFLOW_CLAIMED')).toHaveLength(1)
  })
})

test('C7: claim repeated after a lost response: same claim generation', {
  timeout: PATIENT,
}, async () => {
  const a = await executionFixture(system(), 2)
  const lossy = await linkTo(a.two)
  lossy.link.loseReplies()
  await repeat(async () => {
    const id = await a.run()
    const [holder, other] = await a.waitForLease(id)
    await expect(holder.claim(id, { url: lossy.url })).rejects.toThrow()
    const second = await holder.claim(id)
    expect([second.status, second.headers['x-svc-claim-generation']]).toEqual([200, '1'])
    expect((await other.claim(id)).status).toBe(409)
    expectOk(await holder.complete(id, 1))
    expect(eventTypes(await a.read(id)).filter((type) => type === 'WORKFLOW_CLAIMED')).toHaveLength(
      1,
    )
  })
  expect(lossy.link.lost).toBeGreaterThanOrEqual(ROUNDS)
})

test.each([0, 1, 300, 100_000])(
  'C8: dispatch frame cut off after %i bytes: the work is sent again',
  async (bytes) => {
    const a = await executionFixture(system(), 0)
    const lossy = await linkTo(a.one)
    const worker = await a.startWorker({ url: lossy.url })
    const big = JSON.stringify('x'.repeat(100_000))
    lossy.link.cutAfter(bytes)
    const id = await a.run(big)
    await expect.poll(() => worker.stream.ended, { timeout: HANG_MS }).toBe(true)
    expect(worker.frames).toEqual([])
    lossy.link.heal()
    await worker.connect()
    const frame = await worker.nextFrame('execution_scheduled', id)
    expect(frame.data.context.input).toHaveLength(100_000)
    expectOk(await worker.complete(id, await worker.claimGeneration(id)))
  },
)

test('C8: dispatcher killed while it sends a frame: the work is sent again', async () => {
  const a = await executionFixture(system(), 0)
  const worker = await a.startWorker()
  for (let i = 0; i < 3; i++) {
    const id = await a.run()
    await Promise.all(
      system()
        .of('dispatcher')
        .map((one) => one.restart('SIGKILL')),
    )
    await expect.poll(() => worker.stream.ended, { timeout: HANG_MS }).toBe(true)
    await worker.connect()
    await worker.nextFrame('execution_scheduled', id)
    const claim = await worker.claim(id)
    // This can be the frame of the first lease, which has expired; then another frame follows.
    const generation =
      claim.status === 200
        ? Number(claim.headers['x-svc-claim-generation'])
        : await worker.awaitAndClaim(id)
    const { status, text } = await worker.complete(id, generation)
    expect(status, `${text}, ${JSON.stringify(await a.read(id))}`).toBe(200)
  }
})

test('C9: events of accepted checkpoints: in the log once and in order; of refused ones: absent', {
  timeout: PATIENT,
}, async () => {
  const a = await executionFixture(system())
  const [worker] = a.workers as [ScriptedWorker]
  await repeat(
    async (n) => {
      const id = await a.run(String(n))
      const generation = await worker.awaitAndClaim(id)
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
