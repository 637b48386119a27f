import { BUILT_IN_ROLES } from '@windlass/gateway/access/built-in-roles'
import { type Verdict, VISITORS, verdictOf } from '@windlass/gateway/access-table'
import type { Route } from '@windlass/gateway/route'
import { routes } from '@windlass/gateway/routes/index'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { idleWorker } from './idle-worker.ts'

const undo: (() => unknown)[] = []
let auth: AuthSystem
let values: Record<string, string>
/** The execution whose token the visitor of that name shows. */
let owned: string
let tokens: Record<string, string | undefined>

/** An execution of x/x that waits for an approval, a schedule of it, and one visitor of each kind. */
beforeAll(async () => {
  auth = await startAuthSystem((one) => undo.push(one), { replicas: { gateway: 2 } })
  await auth.upload(workflowSource('x', 'x'))
  const worker = await idleWorker(auth, 'w1')
  undo.push(() => worker.leave())
  const { execution_id = '' } = await auth.must('POST /workflows/x/x/run/async', { body: null })
  const { generation } = await worker.hold(execution_id)
  const asked = await worker.call(
    `approvals/${execution_id}`,
    { task_call_id: 'x', task_name: 'x' },
    { 'x-svc-claim-generation': generation },
  )
  expect(asked.status, asked.text).toBe(200)
  await auth.upload(workflowSource('x', 'pinned', ', affinity={"pool": "w2"}'))
  const runner = await idleWorker(auth, 'w2', { pool: 'w2' })
  undo.push(() => runner.leave())
  const { execution_id: own = '' } = await auth.must('POST /workflows/x/pinned/run/async', {
    body: null,
  })
  await runner.hold(own)
  owned = own
  const { id = '' } = await auth.must('POST /schedules', {
    body: {
      workflow_name: 'x/x',
      name: 'x',
      schedule_config: { type: 'interval', interval_seconds: 3_600 },
    },
  })
  values = {
    ...{ namespace: 'x', workflow_name: 'x', task_name: 'x', task_call_id: 'x' },
    ...{ execution_id, schedule_id: id, mode: 'async', version: '1', a: '1', b: '1' },
  }
  tokens = {
    ...{ nobody: undefined, session: worker.token, stranger: (await auth.account([])).key },
    execution: JSON.parse(runner.frames.get(own) ?? '{}').exec_token,
  }
  expect(tokens.execution).toMatch(/^ey/)
  for (const role of Object.keys(BUILT_IN_ROLES))
    tokens[role] = (await auth.account([role], `is-${role}`)).key
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

/** Whose name stands in the path of a worker's route, or which execution. */
const ownOf = (visitor: string): Record<string, string> =>
  visitor === 'execution'
    ? { execution_id: owned }
    : { name: visitor === 'session' ? 'w1' : `is-${visitor}` }

/** A path of the route in which every object is there, unless it would be deleted. */
function filled({ method, path }: Route, own: Record<string, string>): string {
  const known: Record<string, string> = { ...values, name: 'somebody-else', ...own }
  const of = (param: string) => (method === 'delete' ? 'absent' : (known[param] ?? 'somebody-else'))
  return path.replaceAll(/{(\w+)}/g, (_, param: string) => of(param))
}

/** A decision, without which that door answers a question of workers. */
const bodyOf = ({ path }: Route) => (path.includes('/authorize/') ? { approved: true } : undefined)

async function isLetIn(
  route: Route,
  visitor: string,
  own: Record<string, string>,
  gateway: number,
) {
  const what = `${route.method.toUpperCase()} ${filled(route, own)}`
  const token = tokens[visitor]
  // What an upload asks for is in the file.
  const { status } =
    what === 'POST /workflows' && token
      ? await auth.upload(workflowSource('x', 'x'), token, gateway)
      : await auth.ask(what, { token, body: bodyOf(route) }, gateway)
  expect(status, what).toBeLessThan(500)
  return status !== 401 && status !== 403
}

async function verdictAt(route: Route, visitor: string, gateway: number): Promise<Verdict> {
  if (await isLetIn(route, visitor, {}, gateway)) return 'yes'
  if (route.access !== 'own worker' && visitor !== 'execution') return 'no'
  return (await isLetIn(route, visitor, ownOf(visitor), gateway)) ? 'own' : 'no'
}

test.each([0, 1])(
  'every door of gateway %i opens for whom the table of access says, and for nobody else',
  async (gateway) => {
    const wrong: string[] = []
    for (const route of routes as readonly Route[])
      for (const visitor of VISITORS) {
        const [found, said] = [
          await verdictAt(route, visitor, gateway),
          verdictOf(route.access, visitor),
        ]
        if (found !== said)
          wrong.push(`${route.method} ${route.path} as ${visitor}: ${found}, not ${said}`)
      }
    expect(wrong).toEqual([])
  },
)

test('the built-in roles are those of the table', async () => {
  const roles = (await auth.must('GET /admin/roles')) as unknown as {
    name: string
    permissions: string[]
    built_in: boolean
  }[]
  const builtIn = roles.filter(({ built_in }) => built_in)
  expect(Object.fromEntries(builtIn.map(({ name, permissions }) => [name, permissions]))).toEqual(
    BUILT_IN_ROLES,
  )
})

test('where nothing is declared nobody gets in', async () => {
  for (const path of [
    '/secrets',
    '/metrics',
    '/debug',
    '/admin',
    '/__proto__',
    '/workers/w1/anything',
  ])
    for (const token of [undefined, auth.admin])
      expect((await auth.ask(`GET ${path}`, { token })).status, path).toBe(404)
})
