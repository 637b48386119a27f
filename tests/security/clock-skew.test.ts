import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem } from './auth-system.ts'
import { issueToken } from './forged-tokens.ts'
import { seedCredentials } from './seed.ts'

const undo: (() => unknown)[] = []
let auth: AuthSystem

/** A process that loads this believes it is so many seconds later. */
const skewed = (seconds: number) => `
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

/** Three gateways: of the right time, a minute ahead, and a minute behind. */
const OFFSETS_S = [0, 60, -60]

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-clocks-'))
  undo.push(() => rm(folder, { recursive: true, force: true }))
  const files = await Promise.all(
    OFFSETS_S.map(async (seconds, i) => {
      const path = join(folder, `${i}.mjs`)
      await writeFile(path, skewed(seconds))
      return path
    }),
  )
  auth = await startAuthSystem((one) => undo.push(one), {
    replicas: { gateway: OFFSETS_S.length },
    envOf: (service, i): Record<string, string> =>
      service === 'gateway' ? { NODE_OPTIONS: `--import=file://${files[i]}` } : {},
  })
  await seedCredentials(auth)
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

/** How far from its limit a token may be for the seconds that a test may take. */
const YES = 200
const NO = 401

/** When a token ended or begins to be good, seconds from now, and what gateways say whose clocks are right, ahead and behind. */
const rows: [claim: 'exp' | 'nbf', fromNowS: number, said: number[]][] = [
  ['exp', 300, [YES, YES, YES]],
  ['exp', 60, [YES, YES, YES]],
  ['exp', 15, [YES, NO, YES]],
  ['exp', -15, [YES, NO, YES]],
  ['exp', -45, [NO, NO, YES]],
  ['exp', -100, [NO, NO, NO]],
  ['nbf', -100, [YES, YES, YES]],
  ['nbf', 15, [YES, YES, NO]],
  ['nbf', 45, [NO, YES, NO]],
  ['nbf', 150, [NO, NO, NO]],
]

test.each(rows)(
  'N028: %s %i s from now is judged by the clock of the gateway, with 30 s of tolerance',
  async (claim, fromNowS, said) => {
    const token = issueToken(auth.idp, 'RS256', { claims: { [claim]: auth.idp.nowS() + fromNowS } })
    const statuses = await Promise.all(
      OFFSETS_S.map(async (_, i) => (await auth.ask('GET /admin/roles', { token }, i)).status),
    )
    expect(statuses).toEqual(said)
  },
)

test('N028: keys, sessions and what one service says to another do not mind', async () => {
  for (const [i] of OFFSETS_S.entries()) {
    const run = await auth.ask('POST /workflows/a/x/run/async', { token: auth.admin, body: 1 }, i)
    expect(run.status, run.text).toBe(200)
  }
})
