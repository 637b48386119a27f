import type { House } from './house.ts'

/** What a caller is told once its right is gone. */
type Gone = 401 | 403

/** One way to let somebody in, and to take it back. */
interface Way {
  name: string
  gone: Gone
  /** Lets somebody in who may then read `/admin/roles`. Answers the token and how it is taken back. */
  make(house: House, n: string): Promise<{ token: string; revoke: string; body?: unknown }>
}

const subjectOf = (n: string) => `guest-${n}`
const READER = { permissions: ['admin:roles:read'] }

async function reader(house: House, n: string) {
  await must(house, 'POST /admin/roles', { name: `reader-${n}`, ...READER })
  await must(house, 'POST /admin/principals', {
    type: 'service_account',
    subject: subjectOf(n),
    roles: [`reader-${n}`],
  })
  const { key } = await must(house, `POST /admin/principals/${subjectOf(n)}/keys`, { name: 'k' })
  return String(key)
}

async function person(house: House, n: string) {
  await must(house, 'POST /admin/roles', { name: `reader-${n}`, ...READER })
  await must(house, 'POST /admin/principals', {
    type: 'user',
    subject: subjectOf(n),
    external_issuer: house.idp.issuer,
    roles: [`reader-${n}`],
  })
  return house.idp.token({ sub: subjectOf(n) })
}

const account = (n: string) => `/admin/principals/${subjectOf(n)}`
const byKey = (name: string, gone: Gone, revoke: (n: string) => string, body?: unknown): Way => ({
  name,
  gone,
  make: async (house, n) => ({ token: await reader(house, n), revoke: revoke(n), body }),
})

export const WAYS: Way[] = [
  byKey('key revoked', 401, (n) => `DELETE ${account(n)}/keys/k`),
  byKey('disabled', 401, (n) => `POST ${account(n)}/disable`),
  byKey('disabled by PATCH', 401, (n) => `PATCH ${account(n)}`, { enabled: false }),
  byKey('deleted', 401, (n) => `DELETE ${account(n)}?force=true`),
  byKey('role revoked', 403, (n) => `DELETE ${account(n)}/roles/reader-${n}`),
  byKey('role deleted', 403, (n) => `DELETE /admin/roles/reader-${n}`),
  byKey('permission removed', 403, (n) => `PATCH /admin/roles/reader-${n}`, {
    remove_permissions: READER.permissions,
  }),
  {
    name: 'person disabled',
    gone: 401,
    make: async (house, n) => ({
      token: await person(house, n),
      revoke: `POST ${account(n)}/disable?issuer=${encodeURIComponent(house.idp.issuer)}`,
    }),
  },
]

const RETRY_MS = 20
const PATIENCE_MS = 30_000

/** Asks until it is answered with something else than an outage. */
async function settled(house: House, what: string, body?: unknown) {
  const end = Date.now() + PATIENCE_MS
  for (let i = 0; ; i++) {
    const gateways = house.system.gateways.length
    const answer = await house.ask(what, { token: house.admin, body }, i % gateways)
    if (answer.status !== 503) return answer
    if (Date.now() > end) throw new Error(`${what}: still ${answer.text}`)
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

/** A change that an outage may have let through without saying so: a conflict says that it is there. */
async function must(house: House, what: string, body?: unknown): Promise<Record<string, unknown>> {
  const { status, text, body: said } = await settled(house, what, body)
  if (status >= 300 && !/already exists/.test(text)) throw new Error(`${what}: ${status} ${text}`)
  return said as Record<string, unknown>
}

export interface Tally {
  cycles: number
  /** Requests sent after the answer to a revocation. */
  after: number
  /** Answers by status, of all requests that bore a right. */
  answers: Record<number, number>
  /** Each a broken promise. */
  violations: string[]
}

/** For how long after a revocation is answered somebody goes on trying. */
const AFTERWARDS_MS = [0, 0, 2, 10, 50, 200]

/** Lets somebody in, who uses that everywhere without a pause, takes it back, and sees who still lets them in. */
async function cycle(house: House, way: Way, n: string, tally: Tally): Promise<void> {
  const made = await way.make(house, n)
  // The answer to the making of a key may be lost in an outage: there is nothing to revoke then.
  if (!made.token || made.token === 'undefined') return
  const gateways = house.system.gateways.map((_, i) => i)
  const note = (status: number, allowed: number[], when: string) => {
    tally.answers[status] = (tally.answers[status] ?? 0) + 1
    if (!allowed.includes(status)) tally.violations.push(`${way.name} ${n}: ${status} ${when}`)
  }
  const use = async (gateway: number) =>
    (await house.ask('GET /admin/roles', { token: made.token }, gateway)).status
  for (const status of await Promise.all(gateways.map(use))) note(status, [200, 503], 'when new')

  let isOver = false
  const busy = gateways.map(async (gateway) => {
    while (!isOver) note(await use(gateway), [200, way.gone, 503], 'meanwhile')
  })
  await settled(house, made.revoke, made.body)
  isOver = true
  for (const pause of AFTERWARDS_MS) {
    await new Promise((resolve) => setTimeout(resolve, pause))
    const statuses = await Promise.all(gateways.map(use))
    tally.after += statuses.length
    for (const status of statuses) note(status, [way.gone, 503], 'after it was revoked')
  }
  await Promise.all(busy)
  tally.cycles++
}

/** Two cycles a second, each in another way, for as long as it is given. */
export async function cycles(house: House, seconds: number): Promise<Tally> {
  const tally: Tally = { cycles: 0, after: 0, answers: {}, violations: [] }
  const end = Date.now() + seconds * 1_000
  const running: Promise<void>[] = []
  for (let n = 0; Date.now() < end; n++) {
    const way = WAYS[n % WAYS.length] as Way
    running.push(
      cycle(house, way, String(n), tally).catch((error) => {
        tally.violations.push(`${way.name} ${n}: ${error}`)
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  await Promise.all(running)
  return tally
}
