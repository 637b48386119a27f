import type { AuthSystem } from './auth-system.ts'

/** What a caller is told once its right is gone. */
type RefusedStatus = 401 | 403

/** One way to let somebody in, and to take it back. */
interface Revocation {
  name: string
  gone: RefusedStatus
  /** Lets somebody in who may then read `/admin/roles`. Answers the token and how it is taken back. */
  make(auth: AuthSystem, n: string): Promise<{ token: string; revoke: string; body?: unknown }>
}

const subjectOf = (n: string) => `guest-${n}`
const READER = { permissions: ['admin:roles:read'] }

async function reader(auth: AuthSystem, n: string) {
  await must(auth, 'POST /admin/roles', { name: `reader-${n}`, ...READER })
  await must(auth, 'POST /admin/principals', {
    type: 'service_account',
    subject: subjectOf(n),
    roles: [`reader-${n}`],
  })
  const { key } = await must(auth, `POST /admin/principals/${subjectOf(n)}/keys`, { name: 'k' })
  return String(key)
}

async function person(auth: AuthSystem, n: string) {
  await must(auth, 'POST /admin/roles', { name: `reader-${n}`, ...READER })
  await must(auth, 'POST /admin/principals', {
    type: 'user',
    subject: subjectOf(n),
    external_issuer: auth.idp.issuer,
    roles: [`reader-${n}`],
  })
  return auth.idp.token({ sub: subjectOf(n) })
}

const account = (n: string) => `/admin/principals/${subjectOf(n)}`
const byKey = (
  name: string,
  gone: RefusedStatus,
  revoke: (n: string) => string,
  body?: unknown,
): Revocation => ({
  name,
  gone,
  make: async (auth, n) => ({ token: await reader(auth, n), revoke: revoke(n), body }),
})

export const REVOCATIONS: Revocation[] = [
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
    make: async (auth, n) => ({
      token: await person(auth, n),
      revoke: `POST ${account(n)}/disable?issuer=${encodeURIComponent(auth.idp.issuer)}`,
    }),
  },
]

const RETRY_MS = 20
const PATIENCE_MS = 30_000

/** Asks until it is answered with something else than an outage. */
async function requestUntilAnswered(auth: AuthSystem, what: string, body?: unknown) {
  const end = Date.now() + PATIENCE_MS
  for (let i = 0; ; i++) {
    const gateways = auth.system.gateways.length
    const answer = await auth.ask(what, { token: auth.admin, body }, i % gateways)
    if (answer.status !== 503) return answer
    if (Date.now() > end) throw new Error(`${what}: still ${answer.text}`)
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

/** A change that an outage may have let through without saying so: a conflict says that it is there. */
async function must(
  auth: AuthSystem,
  what: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const { status, text, body: said } = await requestUntilAnswered(auth, what, body)
  if (status >= 300 && !/already exists/.test(text)) throw new Error(`${what}: ${status} ${text}`)
  return said as Record<string, unknown>
}

export interface Tally {
  runRevocationCycles: number
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
async function runCycle(auth: AuthSystem, way: Revocation, n: string, tally: Tally): Promise<void> {
  const made = await way.make(auth, n)
  // The answer to the making of a key may be lost in an outage: there is nothing to revoke then.
  if (!made.token || made.token === 'undefined') return
  const gateways = auth.system.gateways.map((_, i) => i)
  const note = (status: number, allowed: number[], when: string) => {
    tally.answers[status] = (tally.answers[status] ?? 0) + 1
    if (!allowed.includes(status)) tally.violations.push(`${way.name} ${n}: ${status} ${when}`)
  }
  const use = async (gateway: number) =>
    (await auth.ask('GET /admin/roles', { token: made.token }, gateway)).status
  for (const status of await Promise.all(gateways.map(use))) note(status, [200, 503], 'when new')

  let isOver = false
  const busy = gateways.map(async (gateway) => {
    while (!isOver) note(await use(gateway), [200, way.gone, 503], 'meanwhile')
  })
  await requestUntilAnswered(auth, made.revoke, made.body)
  isOver = true
  for (const pause of AFTERWARDS_MS) {
    await new Promise((resolve) => setTimeout(resolve, pause))
    const statuses = await Promise.all(gateways.map(use))
    tally.after += statuses.length
    for (const status of statuses) note(status, [way.gone, 503], 'after it was revoked')
  }
  await Promise.all(busy)
  tally.runRevocationCycles++
}

/** Two cycles a second, each in another way, for as long as it is given. */
export async function cycles(auth: AuthSystem, seconds: number): Promise<Tally> {
  const tally: Tally = { runRevocationCycles: 0, after: 0, answers: {}, violations: [] }
  const end = Date.now() + seconds * 1_000
  const running: Promise<void>[] = []
  for (let n = 0; Date.now() < end; n++) {
    const way = REVOCATIONS[n % REVOCATIONS.length] as Revocation
    running.push(
      runCycle(auth, way, String(n), tally).catch((error) => {
        tally.violations.push(`${way.name} ${n}: ${error}`)
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  await Promise.all(running)
  return tally
}
