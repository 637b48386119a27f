import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem } from './auth-system.ts'
import { issueToken } from './forged-tokens.ts'
import { seedCredentials } from './seed.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem

/** Returns a module that shifts the clock of the process that loads it by `seconds`. */
const clockShift = (seconds: number) => `
const now = Date.now
const Real = Date
globalThis.Date = class extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [Date.now()] : given))
  }
  static now() {
    return now() + ${seconds * 1_000}
  }
}
`

/** Clock offsets of three gateways: exact, a minute ahead, a minute behind. */
const OFFSETS_S = [0, 60, -60]

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-clocks-'))
  teardown.push(() => rm(folder, { recursive: true, force: true }))
  const files = await Promise.all(
    OFFSETS_S.map(async (seconds, i) => {
      const path = join(folder, `${i}.mjs`)
      await writeFile(path, clockShift(seconds))
      return path
    }),
  )
  auth = await startAuthSystem((one) => teardown.push(one), {
    singleProcess: false,
    replicas: { gateway: OFFSETS_S.length },
    envOf: (service, i): Record<string, string> =>
      service === 'gateway' ? { NODE_OPTIONS: `--import=file://${files[i]}` } : {},
  })
  await seedCredentials(auth)
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

// Each case keeps 15 s from the limit, since the test itself takes some seconds.
const OK = 200
const REFUSED = 401

/** Claim, its time in seconds from now, and the status from the gateways whose clock is exact, ahead, behind. */
const cases: [claim: 'exp' | 'nbf', fromNowS: number, statuses: number[]][] = [
  ['exp', 300, [OK, OK, OK]],
  ['exp', 60, [OK, OK, OK]],
  ['exp', 15, [OK, REFUSED, OK]],
  ['exp', -15, [OK, REFUSED, OK]],
  ['exp', -45, [REFUSED, REFUSED, OK]],
  ['exp', -100, [REFUSED, REFUSED, REFUSED]],
  ['nbf', -100, [OK, OK, OK]],
  ['nbf', 15, [OK, OK, REFUSED]],
  ['nbf', 45, [REFUSED, OK, REFUSED]],
  ['nbf', 150, [REFUSED, REFUSED, REFUSED]],
]

test.each(cases)(
  'N028: %s %i s from now: judged by the clock of the gateway, with 30 s of tolerance',
  async (claim, fromNowS, expected) => {
    const token = issueToken(auth.idp, 'RS256', { claims: { [claim]: auth.idp.nowS() + fromNowS } })
    const statuses = await Promise.all(
      OFFSETS_S.map(async (_, i) => (await auth.request('GET /admin/roles', { token }, i)).status),
    )
    expect(statuses).toEqual(expected)
  },
)

test('N028: gateway clocks differ by a minute: API keys, sessions and service tokens are accepted', async () => {
  for (const [i] of OFFSETS_S.entries()) {
    const run = await auth.request(
      'POST /workflows/a/x/run/async',
      { token: auth.admin, body: 1 },
      i,
    )
    expect(run.status, run.text).toBe(200)
  }
})
