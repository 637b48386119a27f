import { afterAll, beforeAll, expect, test } from 'vitest'
import { assertResponse } from './assert-response.ts'
import { workerCases } from './worker-cases.ts'
import { type WorkerFixture, workerFixture } from './worker-fixture.ts'

const teardown: (() => unknown)[] = []
let fixture: WorkerFixture
let before: unknown
const HANG_MS = 180_000

/** Executions that no case may change. */
const untouched = async () => {
  const { theirs, ended, queued, sent } = fixture
  const ids = [theirs.execution_id, ended.execution_id, queued, sent]
  const reads = ids.map((id) => fixture.requestOk(`GET /executions/${id}?detailed=true`))
  return Promise.all(reads)
}

beforeAll(async () => {
  fixture = await workerFixture((one) => teardown.push(one))
  before = await untouched()
}, HANG_MS)
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

test.each(workerCases)('%s', async (_, asking, expected) => {
  for (const gateway of [0, 1]) {
    const { what, ...given } = await asking(fixture)
    const answer = await fixture.request(what, given, gateway)
    assertResponse(answer, expected)
    // Workers stop at this word, not at the status.
    const isWrite = /checkpoint|release/.test(what)
    if (answer.status === 409 && isWrite) expect(answer.text).toContain('stale-claim')
  }
})

test('after all metric cases: both gateways show the one valid snapshot', async () => {
  for (const gateway of [0, 1])
    await expect
      .poll(async () => {
        const { body } = await fixture.request('GET /workers/a', { token: fixture.admin }, gateway)
        return (body as { metrics: object }).metrics
      })
      .toEqual({ 'cpu "busy"': 0.5 })
})

test('after all cases: executions of other workers and ended ones are unchanged', async () => {
  expect(await untouched()).toEqual(before)
  // The only accepted checkpoint was that of its claim holder.
  expect(await fixture.requestOk(`GET /executions/${fixture.mine.execution_id}`)).toMatchObject({
    state: 'RUNNING',
    current_worker: 'a',
  })
})
