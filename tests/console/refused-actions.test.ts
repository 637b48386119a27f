import { describe, expect, test, vi } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'

const SOURCE = `from windlass import ExecutionContext, task, workflow


@task.with_options(requires_approval=True)
async def refund(order):
    return order


@workflow.with_options(name="give_back")
async def give_back(ctx: ExecutionContext):
    return await refund(ctx.input)
`
const READS = ['workflow:*:*:read', 'execution:*:read', 'schedule:*:read']

const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async ({ upload, requestOk }) => {
    expect((await upload(SOURCE)).status).toBe(200)
    const run = 'POST /workflows/default/give_back/run/async'
    const { execution_id: id } = await requestOk(run, { body: 1 })
    const state = async () => (await requestOk(`GET /executions/${id}`)).state
    await vi.waitFor(async () => expect(await state()).toBe('PAUSED'), { timeout: 60_000 })
  },
})
const { obstacle } = fixture

describe.skipIf(obstacle)(`refused actions${obstacle ? `: ${obstacle}` : ''}`, () => {
  test.each(['Approve', 'Reject'])(
    'a decision by a reader: %s is disabled and names the permission',
    async (name) => {
      const one = await fixture.open(await fixture.auth.keyWith(READS))
      await one.goto('approvals')
      const button = one.page.getByRole('button', { name, exact: true })
      await button.waitFor()
      await expect.poll(() => button.isDisabled()).toBe(true)
      expect(await button.getAttribute('title')).toContain(
        'workflow:default:give_back:task:refund:approve',
      )
      expect(await one.findings()).toEqual([])
    },
  )
})
