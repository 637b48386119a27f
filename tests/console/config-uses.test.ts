import { describe, expect, test } from 'vitest'
import { workflowSource } from '../security/auth-system.ts'
import { idleWorker } from '../security/idle-worker.ts'
import { claimHeaders } from '../security/worker-fixture.ts'
import { consoleFixture, isWhole } from './console-fixture.ts'

const NAME = 'limit <b>'
let execution = ''

const fixture = consoleFixture({
  isWanted: isWhole,
  prepare: async (auth) => {
    const { requestOk, upload } = auth
    for (const name of [NAME, 'unused'])
      await requestOk('POST /admin/configs', { body: { name, value: 1 } })
    for (const [namespace, name] of [['default', 'ship'] as const, ['other', 'hidden'] as const]) {
      expect((await upload(workflowSource(namespace, name))).status).toBe(200)
      const started = await requestOk(`POST /workflows/${namespace}/${name}/run/async`, {
        body: null,
      })
      const worker = await idleWorker(auth, `reader-${name}`)
      const { execution_id, generation } = await worker.claim(started.execution_id ?? '')
      if (name === 'ship') execution = execution_id
      await requestOk('POST /admin/configs/batch', {
        token: worker.token,
        body: [NAME],
        headers: { 'x-svc-execution-id': execution_id, ...claimHeaders(generation) },
      })
      worker.disconnect()
    }
  },
})
const { obstacle } = fixture

describe.skipIf(obstacle)(`uses of configs${obstacle ? `: ${obstacle}` : ''}`, () => {
  test('a config that workflows read: shown in its screen and in that of the workflow', async () => {
    const one = await fixture.open(fixture.auth.admin)
    await one.visit('workflows/default/ship', 'ship')
    await one.page.getByRole('link', { name: 'Uses', exact: true }).click()
    const configs = one.page.getByRole('table', { name: 'Configs' })
    await configs.getByTitle(execution).waitFor()
    expect(await one.findings()).toEqual([])
    await configs.getByRole('link', { name: NAME }).click()
    await one.page.getByRole('heading', { level: 1, name: NAME }).waitFor()
    const uses = one.page.getByRole('table', { name: 'Uses' })
    await uses.getByTitle(execution).waitFor()
    await uses.getByRole('link', { name: 'other/hidden' }).waitFor()
    await one.page.setViewportSize({ width: 320, height: 800 })
    expect(await one.findings()).toEqual([])
    expect(await one.contentWidth()).toBeLessThanOrEqual(320)
    await uses.getByRole('link', { name: 'default/ship' }).click()
    await configs.waitFor()
  })

  test('a config that no workflow read: says so', async () => {
    const one = await fixture.open(fixture.auth.admin)
    await one.visit('configs/unused', 'unused')
    // Only secrets have versions.
    expect(await one.page.getByText(/^Version$|old value/).count()).toBe(0)
    await one.page.getByText('No workflow that you may see has read it').waitFor()
  })

  test('a caller who may read one of the workflows: the other is counted', async () => {
    const key = await fixture.auth.keyWith(['config:*:read', 'workflow:default:*:read'])
    const one = await fixture.open(key)
    await one.visit(`configs/${encodeURIComponent(NAME)}`, NAME)
    await one.page.getByRole('link', { name: 'default/ship' }).waitFor()
    await one.page.getByText('1 more that are not listed.').waitFor()
    expect(await one.page.getByText('hidden').count()).toBe(0)
  })

  test('a caller who may not read configs: the screen of the workflow names the permission', async () => {
    const one = await fixture.open(await fixture.auth.keyWith(['workflow:*:*:read']))
    await one.visit('workflows/default/ship?tab=uses', 'ship')
    const configs = one.page.getByRole('region', { name: 'Configs', exact: true })
    await configs.getByText('You need the permission config:*:read').waitFor()
    expect(await one.page.getByText(NAME).count()).toBe(0)
  })
})
