import { afterAll, beforeAll, expect, test } from 'vitest'
import { assertResponse } from './assert-response.ts'
import { workerCases } from './worker-cases.ts'
import { type WorkerFixture, workerFixture } from './worker-fixture.ts'

const undo: (() => unknown)[] = []
let scene: WorkerFixture
let before: unknown
const HANG_MS = 180_000

/** What must be as it was, whatever the rows try. */
const kept = async () => {
  const { theirs, ended, queued, sent } = scene
  const ids = [theirs.execution_id, ended.execution_id, queued, sent]
  const told = ids.map((id) => scene.must(`GET /executions/${id}?detailed=true`))
  return Promise.all(told)
}

beforeAll(async () => {
  scene = await workerFixture((one) => undo.push(one))
  before = await kept()
}, HANG_MS)
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

test.each(workerCases)('%s', async (_, asking, expected) => {
  for (const gateway of [0, 1]) {
    const { what, ...given } = await asking(scene)
    const answer = await scene.ask(what, given, gateway)
    assertResponse(answer, expected)
    // What stops a worker is this word, not the status.
    const isWrite = /checkpoint|release/.test(what)
    if (answer.status === 409 && isWrite) expect(answer.text).toContain('stale-claim')
  }
})

test('of all snapshots only the one in order is shown, by both gateways', async () => {
  for (const gateway of [0, 1])
    await expect
      .poll(async () => {
        const { body } = await scene.ask('GET /workers/a', { token: scene.admin }, gateway)
        return (body as { metrics: object }).metrics
      })
      .toEqual({ 'cpu "busy"': 0.5 })
})

test('nothing of all this has changed what belongs to others, or what had ended', async () => {
  expect(await kept()).toEqual(before)
  // Its holder said that it runs, and nobody else was heard.
  expect(await scene.must(`GET /executions/${scene.mine.execution_id}`)).toMatchObject({
    state: 'RUNNING',
    current_worker: 'a',
  })
})
