import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { seed } from './console-seed.ts'
import { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts'

let ids: Record<string, string> = {}
let proxy: FaultProxy
const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async (auth) => {
    ids = await seed(auth)
  },
})
const { obstacle } = fixture

beforeAll(async () => {
  if (!obstacle) proxy = await startFaultProxy(fixture.url, fixture.defer)
})
beforeEach(() => {
  if (!obstacle) proxy.fault = () => undefined
})

const open = () => fixture.open(fixture.auth.admin, { baseURL: proxy.url })

/** A fault of the first requests that match, as many as are given. */
function faultOf(pattern: RegExp, faults: Fault[]): void {
  const left = [...faults]
  proxy.fault = ({ method, path }) => (pattern.test(`${method} ${path}`) ? left.shift() : undefined)
}

describe.skipIf(obstacle)(`faults${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('a script of a screen that breaks off: read again without a click', async () => {
    const { page } = await open()
    faultOf(/assets\/queue-/, ['unsent', 'unanswered', 'cut'])
    await page.getByRole('link', { name: 'Queue', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
  })

  test('the answer to a start is lost: repeated under its key, and one execution starts', async () => {
    const { page, visit } = await open()
    await visit('start/default/greet', 'Run greet')
    const count = async () =>
      Number((await fixture.auth.requestOk('GET /executions?workflow_name=greet')).total)
    const before = await count()
    faultOf(/^POST .*\/run\/async/, ['unanswered', 'unsent'])
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
    expect(await count()).toBe(before + 1)
  })

  test('the connection breaks at a decision: sent again, and the execution completes', async () => {
    const { page, visit } = await open()
    await visit('approvals', 'Approvals')
    faultOf(/\/approve$/, ['unsent', 'unsent'])
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Nothing waits for a decision').waitFor()
    await expect
      .poll(async () => (await fixture.auth.requestOk(`GET /executions/${ids.give_back}`)).state)
      .toBe('COMPLETED')
  })
})
