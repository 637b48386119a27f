import type { AuthSystem } from './auth-system.ts'

/** The status after the revocation: 401 for the credential, 403 for the permission. */
type RefusedStatus = 401 | 403

/** One way to grant access and to revoke it. */
interface Revocation {
  name: string
  refusedStatus: RefusedStatus
  /** Creates a principal that may read `/admin/roles`. Returns its token and the request that revokes it. */
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

async function user(auth: AuthSystem, n: string) {
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
  refusedStatus: RefusedStatus,
  revoke: (n: string) => string,
  body?: unknown,
): Revocation => ({
  name,
  refusedStatus,
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
    name: 'user disabled',
    refusedStatus: 401,
    make: async (auth, n) => ({
      token: await user(auth, n),
      revoke: `POST ${account(n)}/disable?issuer=${encodeURIComponent(auth.idp.issuer)}`,
    }),
  },
]

const RETRY_MS = 20
const RETRY_BUDGET_MS = 30_000

/** Repeats a request until its answer is not 503. */
async function requestUntilAnswered(auth: AuthSystem, what: string, body?: unknown) {
  const end = Date.now() + RETRY_BUDGET_MS
  for (let i = 0; ; i++) {
    const gateways = auth.system.gateways.length
    const answer = await auth.request(what, { token: auth.admin, body }, i % gateways)
    if (answer.status !== 503) return answer
    if (Date.now() > end) throw new Error(`${what}: still ${answer.text}`)
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

/** Makes a change that an earlier attempt may have made unanswered: 409 counts as success. */
async function must(
  auth: AuthSystem,
  what: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const { status, text, body: result } = await requestUntilAnswered(auth, what, body)
  if (status >= 300 && !/already exists/.test(text)) throw new Error(`${what}: ${status} ${text}`)
  return result as Record<string, unknown>
}

export interface Tally {
  runRevocationCycles: number
  /** Requests sent after a revocation was answered. */
  after: number
  /** Responses by status, of all requests with the token. */
  answers: Record<number, number>
  /** Responses that must not happen. */
  violations: string[]
}

/** Pauses between the attempts after a revocation. */
const AFTERWARDS_MS = [0, 0, 2, 10, 50, 200]

/** Grants access, uses it at all gateways without pause, revokes it, and records each later response. */
async function runCycle(auth: AuthSystem, way: Revocation, n: string, tally: Tally): Promise<void> {
  const granted = await way.make(auth, n)
  // The response with the key can be lost in an outage: then there is nothing to revoke.
  if (!granted.token || granted.token === 'undefined') return
  const gateways = auth.system.gateways.map((_, i) => i)
  const note = (status: number, allowed: number[], when: string) => {
    tally.answers[status] = (tally.answers[status] ?? 0) + 1
    if (!allowed.includes(status)) tally.violations.push(`${way.name} ${n}: ${status} ${when}`)
  }
  const use = async (gateway: number) =>
    (await auth.request('GET /admin/roles', { token: granted.token }, gateway)).status
  for (const status of await Promise.all(gateways.map(use))) note(status, [200, 503], 'when new')

  let isOver = false
  const busy = gateways.map(async (gateway) => {
    while (!isOver) note(await use(gateway), [200, way.refusedStatus, 503], 'meanwhile')
  })
  await requestUntilAnswered(auth, granted.revoke, granted.body)
  isOver = true
  for (const pause of AFTERWARDS_MS) {
    await new Promise((resolve) => setTimeout(resolve, pause))
    const statuses = await Promise.all(gateways.map(use))
    tally.after += statuses.length
    for (const status of statuses) note(status, [way.refusedStatus, 503], 'after it was revoked')
  }
  await Promise.all(busy)
  tally.runRevocationCycles++
}

/** Starts two cycles a second for `seconds`, with each kind of revocation in turn. */
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
