import { describe, expect, test } from 'vitest'
import { consoleFixture, isWhole, LIMIT_MS } from './console-fixture.ts'
import { screensOf, seed } from './console-seed.ts'

const READS = ['workflow:*:*:read', 'execution:*:read', 'schedule:*:read']
const ADMINISTRATION = [
  ...['principals', 'roles', 'secrets', 'audit'].map((part) => `admin:${part}:read`),
  'config:*:read',
]
let ids: Record<string, string> = {}
const fixture = consoleFixture({
  workers: 1,
  isWanted: isWhole,
  prepare: async (auth) => {
    ids = await seed(auth)
  },
})
const { obstacle } = fixture

/** Runs in the page: disabled controls whose title, which touch and keys do not show, is not among its texts. */
const UNEXPLAINED = `[...document.querySelectorAll('main :disabled[title]')]
  .filter((it) => it.checkVisibility() && !document.querySelector('main').innerText.includes(it.title))
  .map((it) => it.textContent + ': ' + it.title)`

describe.skipIf(obstacle)(`refused actions${obstacle ? `: ${obstacle}` : ''}`, () => {
  test.each(['Approve', 'Reject'])(
    'a decision by a reader: %s is disabled and names the permission',
    async (name) => {
      const one = await fixture.open(await fixture.auth.keyWith(READS))
      await one.goto('approvals')
      const button = one.page.getByRole('button', {
        name: new RegExp(`^${name} refund of give_back`),
      })
      await button.waitFor()
      await expect.poll(() => button.isDisabled()).toBe(true)
      expect(await button.getAttribute('title')).toContain(
        'workflow:default:give_back:task:refund:approve',
      )
      expect(await one.findings()).toEqual([])
    },
  )

  test.each([
    ['a reader of executions', READS],
    ['a reader of the administration', [...READS, ...ADMINISTRATION]],
  ])(
    '%s, on each screen: why a control is disabled is a text of the screen',
    async (_, permissions) => {
      const { page, visit } = await fixture.open(await fixture.auth.keyWith(permissions))
      const found: Record<string, string[]> = {}
      for (const [path] of screensOf(ids)) {
        await visit(path, /./)
        const unexplained = await page.evaluate<string[]>(UNEXPLAINED)
        if (unexplained.length > 0) found[path] = unexplained
      }
      expect(found).toEqual({})
    },
    LIMIT_MS,
  )
})
