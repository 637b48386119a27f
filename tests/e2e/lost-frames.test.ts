import type { ScriptedWorker } from '@windlass/testkit/scripted-worker'
import { expect, test } from 'vitest'
import { CLAIMS_BY_DELIVERY, repeatUntilDelivered } from './delivered-frame.ts'
import {
  type ExecutionFixture,
  eventTypes,
  executionFixture,
  expectOk,
  expectStaleClaim,
  HANG_MS,
  lossyLinkTo,
  sharedSystem,
  TWO_OF_EACH,
  throttledLinkTo,
} from './execution-fixture.ts'
import { completeNextFrame, waitForClaimableFrame } from './fault-injection.ts'

const system = sharedSystem({
  replicas: TWO_OF_EACH,
  // The leases of lost frames expire after this time.
  env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '4', SVC_EXECUTIONS__MAX_ATTEMPTS: '1000' },
})

test.each([0, 1, 300, 100_000])(
  'C8: dispatch frame cut off after %i bytes: the work is sent again',
  async (bytes) => {
    const a = await executionFixture(system(), 0)
    const lossy = await lossyLinkTo(a.one)
    const worker = await a.startWorker({ url: lossy.url })
    const big = JSON.stringify('x'.repeat(100_000))
    lossy.link.cutAfter(bytes)
    const id = await a.run(big)
    await expect.poll(() => worker.stream.ended, { timeout: HANG_MS }).toBe(true)
    expect(worker.frames).toEqual([])
    lossy.link.heal()
    await worker.connect()
    const frame = await completeNextFrame(worker, id)
    expect(frame.data.context.input).toHaveLength(100_000)
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
    await completeNextFrame(worker, id)
  }
})

interface Lease {
  execution_id: string
  generation: number
}

/** Asserts that no request which may be the first one under an earlier lease is accepted. */
async function expectSuperseded(
  worker: ScriptedWorker,
  { execution_id: id, generation }: Lease,
  url: string,
) {
  for (const state of ['RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED']) {
    const events = [{ type: 'TASK_COMPLETED', value: '"late"' }]
    const report = { state, events, output: '"late"', generation }
    expectStaleClaim(await worker.checkpoint(id, report, { url }))
  }
  const headers = { 'x-svc-claim-generation': String(generation) }
  expect((await worker.post(`claim/${id}`, { headers }, { url })).status).toBe(409)
}

const countLeases = async (a: ExecutionFixture, id: string) =>
  eventTypes(await a.read(id)).filter((type) => type === 'WORKFLOW_SCHEDULED').length

/** Event types of the log without leases, with the worker that claimed. */
async function claimsAndWork(a: ExecutionFixture, id: string): Promise<string[]> {
  const { events } = (await a.read(id)) as { events: { type: string; source_id: string }[] }
  return events.flatMap(({ type, source_id }) => {
    if (type === 'WORKFLOW_SCHEDULED') return []
    return type === 'WORKFLOW_CLAIMED' ? [`${type} ${source_id}`] : [type]
  })
}

/** A worker that was late, its lease, and the gateways at which it is refused before and after the end. */
interface Late {
  worker: ScriptedWorker
  lease: Lease
  before: string
  after: string
}

/** Another lease ends the execution, and nothing under the late one is accepted meanwhile or in the log. */
async function expectOnlyLaterLease(a: ExecutionFixture, late: Late, worker: ScriptedWorker) {
  const { execution_id: id, generation } = late.lease
  await expectSuperseded(late.worker, late.lease, late.before)
  const current = await waitForClaimableFrame(worker, 'execution_scheduled', id)
  expect([current.data.claim, current.attempt]).toEqual([undefined, 1])
  expect(current.generation).toBeGreaterThan(generation)
  await expectSuperseded(late.worker, late.lease, late.before)
  expectOk(await worker.complete(id, current.generation))
  await expectSuperseded(late.worker, late.lease, late.after)
  expect(await claimsAndWork(a, id)).toEqual([
    `WORKFLOW_CLAIMED ${worker.name}`,
    'WORKFLOW_COMPLETED',
  ])
}

test('C2, C9, D6: frame delivered after its claim timeout: refused, and not counted as an attempt', {
  timeout: 3 * HANG_MS,
}, async () => {
  const a = await executionFixture(system(), 0)
  const { link, url } = await throttledLinkTo(a.one)
  const worker = await a.startWorker({ url, ...CLAIMS_BY_DELIVERY })
  const lease = await repeatUntilDelivered(a, async () => {
    link.stop()
    const id = await a.run()
    await expect.poll(() => countLeases(a, id), { timeout: HANG_MS }).toBeGreaterThan(1)
    link.resume()
    return worker.nextFrame('execution_scheduled', id)
  })
  await expectOnlyLaterLease(a, { worker, lease, before: a.two, after: a.two }, worker)
})

test('C2, C9: first checkpoint after another worker got the execution: refused, and not in the log', {
  timeout: 3 * HANG_MS,
}, async () => {
  const a = await executionFixture(system(), 0)
  const slow = await a.startWorker(CLAIMS_BY_DELIVERY)
  const lease = await repeatUntilDelivered(a, async () =>
    slow.nextFrame('execution_scheduled', await a.run()),
  )
  // Without a stream it gets no other lease.
  slow.close()
  const other = await a.startWorker({ url: a.two, ...CLAIMS_BY_DELIVERY })
  await expect
    .poll(() => other.hasFrame('execution_scheduled', lease.execution_id), { timeout: HANG_MS })
    .toBe(true)
  await expectOnlyLaterLease(a, { worker: slow, lease, before: a.one, after: a.two }, other)
})
