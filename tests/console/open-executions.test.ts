import { describe, expect, test } from 'vitest'
import { consoleFixture, isWhole } from './console-fixture.ts'

const source = (comment: string) => `from windlass import ExecutionContext, workflow


@workflow.with_options(name="wait", affinity={"zone": "nowhere"})
async def wait(ctx: ExecutionContext):
    return ctx.input  # ${comment}
`
const RUN = 'POST /workflows/default/wait/run/async'

const fixture = consoleFixture({
  isWanted: isWhole,
  prepare: async ({ upload }) => {
    for (const comment of ['first', 'second'])
      expect((await upload(source(comment))).status).toBe(200)
  },
})
const { obstacle } = fixture

const start = async (body: unknown) =>
  (await fixture.auth.requestOk(RUN, { body })).execution_id ?? ''
const cancel = (id: string) => fixture.auth.requestOk(`GET /workflows/default/wait/cancel/${id}`)

describe.skipIf(obstacle)(
  `executions that have not ended${obstacle ? `: ${obstacle}` : ''}`,
  () => {
    test('an execution that has not ended: its output is said to be absent, and is not shown as null', async () => {
      const id = await start(null)
      const one = await fixture.open(fixture.auth.admin)
      await one.goto(`executions/${id}?tab=data`)
      const output = one.page.getByRole('region', { name: 'Output', exact: true })
      await output.getByText('There is no output yet.').waitFor()
      expect(await one.page.getByLabel('Output, text').count()).toBe(0)
      expect(await one.page.getByLabel('Input, text').textContent()).toBe('null\n')
      await cancel(id)
      await output.getByText('It ended without an output.').waitFor()
    })

    test('two executions of which one has not ended: the comparison shows its end', async () => {
      const [other, id] = [await start(1), await start(2)]
      await cancel(other)
      const one = await fixture.open(fixture.auth.admin)
      await one.visit(`compare/${other}/${id}`, 'Compare')
      const states = one.page.getByRole('row', { name: /^State/ })
      await states.getByText('Queued').waitFor()
      await cancel(id)
      await expect.poll(() => states.getByText('Cancelled').count()).toBe(2)
    })

    test('start: another version is chosen, and what was typed stays', async () => {
      await start('earlier')
      const one = await fixture.open(fixture.auth.admin)
      const { page } = one
      await one.visit('start/default/wait', 'Run wait')
      await page.getByLabel('Input (JSON)').fill('{"typed":1.0}')
      await page.getByLabel('Version').selectOption('1')
      await page.waitForURL(/version=1/)
      await expect.poll(() => page.getByLabel('Input (JSON)').inputValue()).toBe('{"typed":1.0}')
      await page
        .getByRole('link', { name: /take over this input/ })
        .first()
        .click()
      await page.waitForURL(/input_of=/)
      await expect.poll(() => page.getByLabel('Input (JSON)').inputValue()).not.toContain('typed')
    })

    test('a caller who may read no execution: exports and acts on all are disabled, with the permission', async () => {
      const key = await fixture.auth.keyWith(['workflow:*:*:read'])
      const one = await fixture.open(key)
      const { page } = one
      await one.visit('executions?workflow_name=wait', 'Executions')
      await page.getByText('Act on all that match').click()
      for (const name of [/^Export CSV/, /^Export NDJSON/, 'Show what it would change']) {
        const button = page.getByRole('button', { name })
        await expect.poll(() => button.isDisabled()).toBe(true)
        expect(await button.getAttribute('title')).toMatch(/execution:.*:read/)
      }
    })
  },
)
