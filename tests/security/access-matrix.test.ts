import { BUILT_IN_ROLES } from '@windlass/gateway/access/built-in-roles'
import { accessFor, CALLER_KINDS, type Verdict } from '@windlass/gateway/route/access-table'
import type { Route } from '@windlass/gateway/route/route'
import { routes } from '@windlass/gateway/routes/index'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { idleWorker } from './idle-worker.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem
let values: Record<string, string>
/** The execution whose execution token is used. */
let owned: string
let tokens: Record<string, string | undefined>

/** Creates an execution of x/x that waits for an approval, a schedule, and one caller of each kind. */
beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one), { replicas: { gateway: 2 } })
  await auth.upload(workflowSource('x', 'x'))
  const worker = await idleWorker(auth, 'w1')
  teardown.push(() => worker.disconnect())
  const { execution_id = '' } = await auth.requestOk('POST /workflows/x/x/run/async', {
    body: null,
  })
  const { generation } = await worker.claim(execution_id)
  const asked = await worker.call(
    `approvals/${execution_id}`,
    { task_call_id: 'x', task_name: 'x' },
    { 'x-svc-claim-generation': generation },
  )
  expect(asked.status, asked.text).toBe(200)
  await auth.upload(workflowSource('x', 'pinned', ', affinity={"pool": "w2"}'))
  const runner = await idleWorker(auth, 'w2', { pool: 'w2' })
  teardown.push(() => runner.disconnect())
  const { execution_id: own = '' } = await auth.requestOk('POST /workflows/x/pinned/run/async', {
    body: null,
  })
  await runner.claim(own)
  owned = own
  const { id = '' } = await auth.requestOk('POST /schedules', {
    body: {
      workflow_name: 'x/x',
      name: 'x',
      schedule_config: { type: 'interval', interval_seconds: 3_600 },
    },
  })
  values = {
    ...{ namespace: 'x', workflow_name: 'x', task_name: 'x', task_call_id: 'x' },
    ...{
      execution_id,
      nested_id: execution_id,
      other_id: execution_id,
      schedule_id: id,
      mode: 'async',
    },
    ...{ version: '1', a: '1', b: '1' },
  }
  tokens = {
    anonymous: undefined,
    no_permissions: (await auth.createAccount([])).key,
    session: worker.token,
    execution: JSON.parse(runner.frames.get(own) ?? '{}').exec_token,
  }
  expect(tokens.execution).toMatch(/^ey/)
  for (const role of Object.keys(BUILT_IN_ROLES))
    tokens[role] = (await auth.createAccount([role], `is-${role}`)).key
  expect(Object.keys(tokens).sort()).toEqual([...CALLER_KINDS].sort())
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

/** Path parameters that name the caller's own worker or execution. */
const ownOf = (caller: string): Record<string, string> =>
  caller === 'execution'
    ? { execution_id: owned, name: 'w2' }
    : { name: caller === 'session' ? 'w1' : `is-${caller}` }

/** Fills a path with existing objects; with absent ones for DELETE, so that nothing is deleted. */
function filled({ method, path }: Route, own: Record<string, string>): string {
  const parameters: Record<string, string> = { ...values, name: 'another-worker', ...own }
  const of = (param: string) =>
    method === 'delete' ? 'absent' : (parameters[param] ?? 'another-worker')
  return path.replaceAll(/{(\w+)}/g, (_, param: string) => of(param))
}

/**
 * The body of `authorize` is a decision; without it the route answers the query of a worker. That of `release` is
 * refused after authorization: a release would end the validity of the execution token.
 */
function bodyOf({ path }: Route) {
  if (path.includes('/authorize/')) return { approved: true }
  return path.includes('/release/') ? { wake_at: 'never' } : undefined
}

/** Routes whose answer depends on the execution of the token, which the request does not name. */
const OF_TOKEN = new Set(['/admin/configs/batch'])

/** The sign-in refuses all programs: a test of the gateway calls it as the console does. */
const programRoutes = (routes as readonly Route[]).filter(({ path }) => path !== '/console/session')

async function isAllowed(
  route: Route,
  caller: string,
  own: Record<string, string>,
  gateway: number,
) {
  const what = `${route.method.toUpperCase()} ${filled(route, own)}`
  const token = tokens[caller]
  // The permission that an upload requires depends on the file.
  const { status } =
    what === 'POST /workflows' && token
      ? await auth.upload(workflowSource('x', 'x'), token, gateway)
      : await auth.request(what, { token, body: bodyOf(route) }, gateway)
  expect(status, what).toBeLessThan(500)
  return status !== 401 && status !== 403
}

async function accessAt(route: Route, caller: string, gateway: number): Promise<Verdict> {
  if (await isAllowed(route, caller, {}, gateway))
    return caller === 'execution' && OF_TOKEN.has(route.path) ? 'own' : 'yes'
  if (!route.access.startsWith('own ') && caller !== 'execution') return 'no'
  return (await isAllowed(route, caller, ownOf(caller), gateway)) ? 'own' : 'no'
}

// A thousand requests: minutes on a busy machine.
const HANG_LIMIT_MS = 600_000

const TITLE = 'each route: admits exactly the callers of the access table, at two gateways in turn'
test(TITLE, { timeout: HANG_LIMIT_MS }, async () => {
  const wrong: string[] = []
  for (const [i, route] of programRoutes.entries())
    for (const [j, caller] of CALLER_KINDS.entries()) {
      const [found, expected] = [
        await accessAt(route, caller, (i + j) % 2),
        accessFor(route.access, caller),
      ]
      if (found !== expected)
        wrong.push(`${route.method} ${route.path} as ${caller}: ${found}, not ${expected}`)
    }
  expect(wrong).toEqual([])
})

test('GET /admin/roles: lists the built-in roles of the access table', async () => {
  const roles = (await auth.requestOk('GET /admin/roles')) as unknown as {
    name: string
    permissions: string[]
    built_in: boolean
  }[]
  const builtIn = roles.filter(({ built_in }) => built_in)
  expect(Object.fromEntries(builtIn.map(({ name, permissions }) => [name, permissions]))).toEqual(
    BUILT_IN_ROLES,
  )
})

test('undeclared path: 404, with and without a credential', async () => {
  for (const path of [
    '/secrets',
    '/metrics',
    '/debug',
    '/admin',
    '/__proto__',
    '/workers/w1/anything',
  ])
    for (const token of [undefined, auth.admin])
      expect((await auth.request(`GET ${path}`, { token })).status, path).toBe(404)
})
