import { describe, expect, test } from 'vitest'
import { flawsOfPage, flawsOfScreens } from './accessible-windows.ts'
import { consoleFixture, isWhole, LIMIT_MS } from './console-fixture.ts'
import { FORBIDDEN } from './console-seed.ts'
import { type FaultProxy, provideFaultProxy } from './fault-proxy.ts'

let proxy: FaultProxy
const fixture = consoleFixture({ isWanted: isWhole })
const { obstacle } = fixture

provideFaultProxy(fixture, (started) => {
  proxy = started
})

/** Screens of a system in which nothing has happened. */
const EMPTY: readonly (readonly [path: string, heading: string])[] = [
  ['', 'Home'],
  ['executions', 'Executions'],
  ['executions?workflow_name=none&counts=1&group=error', 'Executions'],
  ['workflows', 'Workflows'],
  ['queue', 'Queue'],
  ['approvals', 'Approvals'],
  ['schedules', 'Schedules'],
  ['schedules?tab=forecast', 'Schedules'],
  ['workers', 'Workers'],
  ['secrets', 'Secrets'],
  ['configs', 'Configs'],
  ['access', 'Access'],
  ['roles', 'Access'],
  ['audit', 'Audit'],
  ['settings', 'Settings'],
  ['no-such-page', 'Not found'],
]

describe.skipIf(obstacle)(`accessibility without data${obstacle ? `: ${obstacle}` : ''}`, () => {
  test(
    'empty screens in six windows: nothing is cut off or covered, and each control is reached and named',
    async () => {
      const one = await fixture.open(fixture.auth.admin)
      expect(await flawsOfScreens(one, EMPTY)).toEqual({})
    },
    LIMIT_MS,
  )

  test(
    'screens without the right to them, in six windows: likewise',
    async () => {
      const one = await fixture.open((await fixture.auth.createAccount([])).key)
      const found: Record<string, string[]> = {}
      for (const [path, permission] of FORBIDDEN) {
        await one.goto(path)
        await one.page.getByRole('alert').filter({ hasText: permission }).first().waitFor()
        const flaws = await flawsOfPage(one)
        if (flaws.length > 0) found[path] = flaws
      }
      expect(found).toEqual({})
    },
    LIMIT_MS,
  )

  test(
    'screens whose data cannot be read, and that are being read, in six windows: likewise',
    async () => {
      const one = await fixture.open(fixture.auth.admin, { baseURL: proxy.url })
      const found: Record<string, string[]> = {}
      for (const fault of ['held', 404] as const)
        for (const [path, heading] of EMPTY.slice(0, -1)) {
          proxy.fault = ({ path: at }) => (/^\/(?!me$|console)/.test(at) ? fault : undefined)
          await one.goto(path)
          await one.page.getByRole('heading', { level: 1, name: heading }).waitFor()
          const flaws = await flawsOfPage(one)
          proxy.breakAll()
          if (flaws.length > 0) found[`${path} ${fault}`] = flaws
        }
      expect(found).toEqual({})
    },
    LIMIT_MS,
  )
})
