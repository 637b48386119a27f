import { afterAll, describe, expect, test } from 'vitest'
import { consoleFixture, isWhole, LIMIT_MS } from './console-fixture.ts'
import { seed } from './console-seed.ts'
import { KeyboardUser } from './keyboard-user.ts'
import type { WatchedPage } from './watched-page.ts'

const MANY = 500
let ids: Record<string, string> = {}
/** Orders of `shop`: one that failed and one that completed. */
const orders = { failed: '', completed: '' }
const SHOP = `from windlass import ExecutionContext, workflow


@workflow.with_options(name="shop")
async def shop(ctx: ExecutionContext):
    if ctx.input["order"] == 4711:
        raise ValueError("card declined")
    return "paid"


@workflow.with_options(name="waits", affinity={"zone": "nowhere"})
async def waits(ctx: ExecutionContext):
    return ctx.input
`

const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async (auth) => {
    ids = await seed(auth)
    const { requestOk, upload } = auth
    await upload(SHOP)
    for (const [name, order] of [
      ['completed', 12],
      ['failed', 4711],
    ] as const) {
      const run = 'POST /workflows/default/shop/run/sync'
      await requestOk(run, { body: { order } })
      const { executions } = (await requestOk('GET /executions?workflow_name=shop')) as never
      orders[name] = (executions as { execution_id: string }[])[0]?.execution_id ?? ''
    }
    for (let i = 0; i < MANY; i += 25)
      await Promise.all(
        Array.from({ length: 25 }, () =>
          requestOk('POST /workflows/default/waits/run/async', { body: null }),
        ),
      )
  },
})
const { obstacle } = fixture
const table: [task: string, keys: number, seconds: number][] = []

afterAll(() => {
  const lines = table.map(([task, keys, s]) => `| ${task} | ${keys} | ${s.toFixed(1)} |`)
  if (lines.length > 0)
    process.stdout.write(
      ['| task | keys | seconds |', '| --- | --- | --- |', ...lines, ''].join('\n'),
    )
})

type Task = (user: KeyboardUser, page: WatchedPage['page']) => Promise<void>

const button = (page: WatchedPage['page'], name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' })
const link = (page: WatchedPage['page'], name: string | RegExp) =>
  page
    .getByRole('main')
    .getByRole('link', { name, exact: typeof name === 'string' })
    .first()

const TASKS: [name: string, most: number, task: Task][] = [
  [
    'find a failed run by an order number in its input',
    60,
    async (user, page) => {
      await user.go('e', 'Executions')
      await user.press('/')
      await user.type('shop')
      await page.waitForURL(/workflow_name=shop/)
      await user.enter(page.getByText('More filters'))
      await user.tabTo(page.getByLabel('Payload'))
      await user.type('input.order=4711')
      await page.waitForURL(/payload=/)
      await user.enter(link(page, new RegExp(`^${orders.failed.slice(0, 8)}`)))
      await user.heading('shop')
    },
  ],
  [
    'say why a run waits',
    40,
    async (user, page) => {
      await user.open(ids.greet ?? '', 'greet')
      await page.getByText('What would help').waitFor()
    },
  ],
  [
    'run again with changed input',
    90,
    async (user, page) => {
      await user.open(orders.failed, 'shop')
      await user.enter(link(page, 'Run again'))
      await user.heading('Run shop')
      await user.tabTo(page.getByLabel('Input (JSON)'))
      await user.replace('{"order":4712}')
      await user.press('Control+Enter')
      await page.waitForURL(/console\/executions\/[0-9a-f]{32}$/)
      await page.getByRole('main').getByText('Completed').first().waitFor()
    },
  ],
  [
    'approve',
    20,
    async (user, page) => {
      await user.go('a', 'Approvals')
      await user.enter(button(page, /^Approve refund of give_back/))
      await page.getByText('Nothing waits for a decision').waitFor()
    },
  ],
  [
    'compare with the last success',
    75,
    async (user, page) => {
      await user.open(orders.failed, 'shop')
      await user.enter(link(page, 'Compare'))
      await user.heading('Compare')
      await user.enter(page.getByRole('row').nth(1).getByRole('link').first())
      await page.getByText('exchange the two').waitFor()
    },
  ],
  [
    'pause a schedule',
    20,
    async (user, page) => {
      await user.go('s', 'Schedules')
      await user.enter(button(page, 'Pause nightly <i>'))
      await button(page, 'Resume nightly <i>').waitFor()
    },
  ],
  [
    'revoke a right after seeing whom it hits',
    60,
    async (user, page) => {
      await user.go('p', 'Access')
      await user.enter(link(page, 'Roles'))
      await user.enter(link(page, 'runners'))
      await user.heading('runners')
      await user.tabTo(page.getByLabel('Permissions, one in each line'))
      await user.replace('workflow:*:*:read')
      await user.enter(button(page, 'Show what changes'))
      await page.getByRole('row', { name: /robot/ }).waitFor()
      await user.enter(button(page, 'Make the change'))
      await expect
        .poll(async () => (await fixture.auth.requestOk('GET /admin/roles/runners')).permissions)
        .toEqual(['workflow:*:*:read'])
    },
  ],
  [
    'replace a secret after seeing who uses it',
    35,
    async (user, page) => {
      await user.go('x', 'Secrets')
      await user.enter(link(page, 'token <b>'))
      await user.heading('token <b>')
      await page.getByRole('heading', { name: /use/i }).first().waitFor()
      await user.enter(page.locator('summary', { hasText: 'Replace the value' }))
      await user.tabTo(page.getByRole('textbox', { name: 'Value' }))
      await user.type('new')
      await user.enter(button(page, 'Replace the value'))
      const path = `GET /admin/secrets/${encodeURIComponent('token <b>')}`
      await expect.poll(async () => (await fixture.auth.requestOk(path)).value).toBe('new')
    },
  ],
  [
    'verify the audit chain',
    12,
    async (user, page) => {
      await user.go('l', 'Audit')
      await user.enter(button(page, 'Verify the chain'))
      await page.getByText('the chain is whole').waitFor()
    },
  ],
  [
    `cancel ${MANY} runs by filter`,
    35,
    async (user, page) => {
      await user.go('e', 'Executions')
      await user.press('/')
      await user.type('waits')
      await page.waitForURL(/workflow_name=waits/)
      await user.enter(page.getByText('Act on all that match'))
      await user.enter(button(page, 'Show what it would change'))
      await user.enter(button(page, `Cancel ${MANY} executions`))
      await page.getByText(`${MANY} of ${MANY} done, 0 refused`).waitFor()
    },
  ],
]

describe.skipIf(obstacle)(`by keyboard alone${obstacle ? `: ${obstacle}` : ''}`, () => {
  test.each(TASKS)(
    '%s: done within %d keys',
    async (name, most, task) => {
      const { page, visit } = await fixture.open(fixture.auth.admin)
      await visit('', 'Home')
      const user = new KeyboardUser(page)
      const begin = performance.now()
      await task(user, page)
      table.push([name, user.keys, (performance.now() - begin) / 1_000])
      expect(user.keys).toBeLessThanOrEqual(most)
    },
    LIMIT_MS,
  )
})
