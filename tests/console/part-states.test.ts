import { describe, expect, test } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'
import { type FaultProxy, provideFaultProxy } from './fault-proxy.ts'
import type { WatchedPage } from './watched-page.ts'

const source = (task: string) => `from windlass import ExecutionContext, task, workflow


@task
async def ${task}(order):
    return order


@workflow.with_options(name="ship", affinity={"zone": "nowhere"})
async def ship(ctx: ExecutionContext):
    return await ${task}(ctx.input)


@workflow.with_options(name="bare")
async def bare(ctx: ExecutionContext):
    return 1
`

const RUN = 'POST /workflows/default/ship/run/async'
let id = ''
let proxy: FaultProxy
const fixture = consoleFixture({
  isWanted: isWhole,
  prepare: async ({ upload, requestOk }) => {
    expect((await upload(source('load'))).status).toBe(200)
    expect((await upload(source('fetch'))).status).toBe(200)
    id = (await requestOk(RUN)).execution_id ?? ''
    await requestOk('POST /schedules', {
      body: {
        ...{ workflow_name: 'ship', name: 'nightly', input_data: null },
        schedule_config: { type: 'cron', cron_expression: '30 3 * * *' },
      },
    })
  },
})
const { obstacle } = fixture

provideFaultProxy(fixture, (started) => {
  proxy = started
})

interface Part {
  name: string
  path: string
  heading: string
  /** Requests that read it. */
  request: RegExp
  /** Text of it when it was read. */
  shown: string | RegExp
  /** Permissions of a caller who may not see it, and the one that is named. */
  rights: string[]
  missing: RegExp
  /** The one that is named when all are taken, if it is another one. */
  missingFirst?: RegExp
  /** Tab that is opened and left to read the part again; undefined: the part needs none. */
  leave?: string
}

const SHIP = 'workflows/default/ship?tab='
const READS = ['workflow:*:*:read']
const partsOf = (execution: string): Part[] => [
  {
    ...{ name: 'counts', heading: 'Executions', rights: READS, missing: /execution:\*:read/ },
    path: 'executions?counts=1&namespace=default&workflow_name=ship',
    ...{ request: /^GET \/executions\/stats\?.*group=worker/, shown: /Workflows, versions and/ },
  },
  {
    ...{ name: 'statistics', heading: 'ship', rights: READS, missing: /execution:\*:read/ },
    ...{ path: `${SHIP}statistics`, request: /^GET \/executions\/stats\?/, shown: 'Waited p50' },
  },
  {
    ...{ name: 'changes', heading: 'ship', rights: [], missing: /workflow:default:ship:read/ },
    ...{ path: `${SHIP}changes`, request: /\/diff\//, shown: '+async def fetch(order):' },
    leave: 'Declared',
  },
  {
    ...{ name: 'uses', heading: 'ship', rights: READS, missing: /schedule:\*:read/ },
    ...{ path: `${SHIP}uses`, request: /^GET \/schedules\?/, shown: 'nightly' },
  },
  {
    ...{ name: 'why', heading: 'ship', rights: READS, missing: /execution:.*:read/ },
    ...{ path: `executions/${execution}?tab=why`, request: /\/explain$/, shown: 'What it needs' },
  },
  {
    ...{ name: 'source', heading: 'ship', rights: ['execution:*:read'] },
    ...{ missing: /workflow:default:ship:read/, path: `executions/${execution}?tab=source` },
    ...{ request: /ship\/versions\/2$/, shown: /^default\/ship version 2/ },
    ...{ leave: 'Log', missingFirst: /execution:\*:read/ },
  },
]
const NAMES = partsOf('').map(({ name }) => name)

function partOf(name: string): Part {
  const found = partsOf(id).find((part) => part.name === name)
  if (!found) throw new Error(`no part ${name}`)
  return found
}

/** A change is read at once with a stream, and by time without one. */
const SLOW = { timeout: 60_000 }
const open = (key = fixture.auth.admin) => fixture.open(key, { baseURL: proxy.url })
const main = ({ page }: WatchedPage) => page.getByRole('main')

/** Findings of axe, and what is wider than a narrow window. */
async function flawsOf(one: WatchedPage): Promise<string[]> {
  await one.page.setViewportSize({ width: 320, height: 800 })
  const flaws = await one.findings()
  const excess = (await one.contentWidth()) - 320
  return excess > 0 ? [...flaws, `${excess} pixels too wide`] : flaws
}

describe.skipIf(obstacle)(`states of parts${obstacle ? `: ${obstacle}` : ''}`, () => {
  test.each(NAMES)(
    '%s: says that it is being read, that the server is not ready, and then shows it',
    async (name) => {
      const { path, heading, request, shown } = partOf(name)
      const one = await open()
      const isOfPart = (method: string, at: string) => request.test(`${method} ${at}`)
      proxy.fault = ({ method, path: at }) => (isOfPart(method, at) ? 'held' : undefined)
      await one.goto(path)
      await one.page.getByRole('heading', { level: 1, name: heading }).waitFor()
      await main(one).getByLabel('Loading').first().waitFor()
      expect(await main(one).getByText(shown).count()).toBe(0)
      expect(await flawsOf(one)).toEqual([])
      proxy.fault = ({ method, path: at }) => (isOfPart(method, at) ? 503 : undefined)
      proxy.breakAll()
      await main(one).getByText('The server is not ready').first().waitFor(SLOW)
      expect(await flawsOf(one)).toEqual([])
      proxy.fault = () => undefined
      await main(one).getByText(shown).first().waitFor(SLOW)
      await expect.poll(() => one.page.getByRole('alert').count(), SLOW).toBe(0)
    },
  )

  test.each(NAMES)('%s without the right to it: names the permission', async (name) => {
    const { path, rights, missing, shown } = partOf(name)
    const one = await open(await fixture.auth.keyWith(rights))
    await one.goto(path)
    const alert = main(one).getByRole('alert').filter({ hasText: 'You may not see this' })
    await alert.filter({ hasText: missing }).first().waitFor()
    expect(await main(one).getByText(shown).count()).toBe(0)
    expect(await flawsOf(one)).toEqual([])
  })

  test.each(NAMES)(
    '%s, and the rights are taken while it is open: says so, and when it was read',
    async (name) => {
      const { path, heading, shown, missing, missingFirst = missing, leave } = partOf(name)
      const { key, subject } = await fixture.auth.createAccount(['viewer', 'operator'])
      const one = await open(key)
      await one.visit(path, heading)
      await main(one).getByText(shown).first().waitFor()
      for (const role of ['viewer', 'operator'])
        await fixture.auth.requestOk(`DELETE /admin/principals/${subject}/roles/${role}`)
      for (const tab of leave ? [leave, new RegExp(`^${name}$`, 'i')] : [])
        await main(one).getByRole('link', { name: tab, exact: true }).click()
      const stale = main(one).getByText(/You may not see this.*What you see was read/)
      await stale.filter({ hasText: missingFirst }).first().waitFor(SLOW)
      expect(await flawsOf(one)).toEqual([])
    },
  )

  test.each([
    ['counts', 'executions?counts=1&namespace=default&workflow_name=none', /^none$/],
    ['changes', `${SHIP}changes&version=1`, 'Version 1 is the first'],
    ['statistics', 'workflows/default/bare?tab=statistics', 'It has not run in 24h'],
    ['uses', 'workflows/default/bare?tab=uses', 'None that you may see starts it.'],
    ['uses', 'workflows/default/bare?tab=uses', 'It declares none.'],
  ])('%s where there is nothing: %s says so', async (_, path, text) => {
    const one = await open()
    await one.visit(path, /Executions|ship|bare/)
    await main(one).getByText(text).first().waitFor()
    expect(await flawsOf(one)).toEqual([])
  })

  test('why without any worker: the reason, the needs, and no empty table', async () => {
    const one = await open()
    await one.visit(`executions/${id}?tab=why`, 'ship')
    await main(one).getByText('No worker is connected.').waitFor()
    expect(await main(one).getByRole('table').count()).toBe(0)
    expect(await flawsOf(one)).toEqual([])
  })

  test('counts and statistics with a stream: another execution is counted at once', async () => {
    for (const name of ['counts', 'statistics']) {
      const { path, heading, shown } = partOf(name)
      const one = await open()
      await one.visit(path, heading)
      await main(one).getByText(shown).first().waitFor()
      const before = (await fixture.auth.requestOk('GET /executions?workflow_name=ship')).total
      await fixture.auth.requestOk(RUN)
      const now = String(Number(before) + 1)
      await main(one).locator('.num').getByText(now, { exact: true }).first().waitFor(SLOW)
    }
  })
})
