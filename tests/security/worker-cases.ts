import { workerRecord } from '@windlass/testkit/worker-record'
import type { RequestSpec } from './auth-system.ts'
import { b4, b5, b6, type Expected } from './cases.ts'
import { claimHeaders, completedCheckpoint, type WorkerFixture } from './worker-fixture.ts'

type Asked = RequestSpec & { what: string }
export type WorkerCase = [name: string, ask: (scene: WorkerFixture) => Asked | Promise<Asked>, Expected]

/** A call of worker a under its own name. */
const byA =
  (call: (scene: WorkerFixture) => string, body?: (scene: WorkerFixture) => unknown): WorkerCase[1] =>
  (scene) => ({ what: `POST /workers/a/${call(scene)}`, token: scene.a.token, body: body?.(scene) })

const other = '0'.repeat(32)
const mismatch = (as: string, name: string): Expected => [403, { detail: `Worker identity mismatch: authenticated as '${as}', but accessing endpoint for '${name}'` }]

const ROUTES = ['GET /workers/b/connect', ...['claim', 'checkpoint', 'release', 'progress', 'approvals'].map((verb) => `POST /workers/b/${verb}/${other}`), `GET /workers/b/approvals/${other}/x`, 'POST /workers/b/pong', 'POST /workers/b/secrets/batch']

const strangers: WorkerCase[] = [
  ...ROUTES.map((what): WorkerCase => [`N076 ${what} as another`, ({ a }) => ({ what, token: a.token }), mismatch('a', 'b')]),
  ['N076 an administrator is no worker', ({ admin }) => ({ what: 'POST /workers/b/pong', token: admin }), mismatch('root', 'b')],
  ['N076 nobody', () => ({ what: 'POST /workers/b/pong' }), [401, { detail: 'Authorization token required' }]],
  ['N077 in capitals', ({ a }) => ({ what: 'POST /workers/A/pong', token: a.token }), mismatch('a', 'A')],
  ...['a%20', 'a/', 'a%CC%81', 'a%00', '%20a', '.', '%2e%2e'].map((name): WorkerCase => [`N077 under the name ${name}`, ({ a }) => ({ what: `POST /workers/${name}/pong`, token: a.token }), 404]),
]

const claims: WorkerCase[] = [
  ['N078 what was sent to another', byA(({ sent }) => `claim/${sent}`), 409],
  ['N078 what another holds', byA(({ theirs }) => `claim/${theirs.execution_id}`), 409],
  ['N078 what was sent to nobody', byA(({ queued }) => `claim/${queued}`), 409],
  ['N078 what has ended', byA(({ ended }) => `claim/${ended.execution_id}`), 409],
  ['N078 what is not there', byA(() => `claim/${other}`), 404],
  ['N078 what was cancelled', byA(({ cancelled }) => `claim/${cancelled}`), 409],
  ['N079 what it has claimed', byA(({ mine }) => `claim/${mine.execution_id}`), 200],
  ['N079 after its eviction', ({ gone, lost }) => ({ what: `POST /workers/c/claim/${lost.execution_id}`, token: gone.token }), 409],
]

/** A checkpoint of worker a for `mine`, unless it says otherwise. */
const report =
  (change: object = {}, headers: (scene: WorkerFixture) => Record<string, string> = ({ mine }) => claimHeaders(mine.generation)): WorkerCase[1] =>
  (scene) => ({
    what: `POST /workers/a/checkpoint/${scene.mine.execution_id}`,
    token: scene.a.token,
    body: { ...completedCheckpoint(scene.mine), state: 'RUNNING', output: undefined, events: [], ...change },
    headers: headers(scene),
  })
const event = (change: object) => ({ ...completedCheckpoint({ execution_id: other, generation: '' }).events[0], type: 'TASK_STARTED', ...change })

const checkpoints: WorkerCase[] = [
  ['N080 another execution in the body', report({ execution_id: other }), 422],
  ['N081 by a worker that does not hold it', ({ b, mine }) => ({ what: `POST /workers/b/checkpoint/${mine.execution_id}`, token: b.token, body: completedCheckpoint(mine), headers: claimHeaders(mine.generation) }), 409],
  ['N081 by such a one without a generation', ({ b, mine }) => ({ what: `POST /workers/b/checkpoint/${mine.execution_id}`, token: b.token, body: completedCheckpoint(mine) }), 409],
  ['N081 by the holder without a generation', report({}, () => ({})), 200],
  ['N081 under a lower generation', report({ state: 'COMPLETED' }, () => claimHeaders('0')), 409],
  ['N081 under a higher one', report({ state: 'COMPLETED' }, ({ mine }) => claimHeaders(`${Number(mine.generation) + 1}`)), 409],
  ...['abc', '9223372036854775808', '-1', '1.0', ' '].map((generation): WorkerCase => [`N081 under the generation ${JSON.stringify(generation)}`, report({}, () => claimHeaders(generation)), 422]),
  ['N081 under an earlier claim of its own', ({ a, released }) => ({ what: `POST /workers/a/checkpoint/${released.execution_id}`, token: a.token, body: completedCheckpoint(released), headers: claimHeaders(released.generation) }), 409],
  ['N081 after its eviction', ({ gone, lost }) => ({ what: `POST /workers/c/checkpoint/${lost.execution_id}`, token: gone.token, body: completedCheckpoint(lost), headers: claimHeaders(lost.generation) }), 409],
  ['N082 the same end again', ({ a, ended }) => ({ what: `POST /workers/a/checkpoint/${ended.execution_id}`, token: a.token, body: completedCheckpoint(ended), headers: claimHeaders(ended.generation) }), 200],
  ['N082 another end', ({ a, ended }) => ({ what: `POST /workers/a/checkpoint/${ended.execution_id}`, token: a.token, body: completedCheckpoint(ended, 2), headers: claimHeaders(ended.generation) }), 409],
  ...['SCHEDULED', 'CREATED', 'RESUMING', 'CANCELLING'].map((state): WorkerCase => [`N083 the state ${state}`, report({ state }), 422]),
  ...['running', 'DANCING', '', 1, null].map((state): WorkerCase => [`N083 the state ${JSON.stringify(state)}`, report({ state }), 422]),
  ['N083 CANCELLED that nobody asked for, without a generation', report({ state: 'CANCELLED' }, () => ({})), 409],
  [
    'N083 CANCELLED that nobody asked for gives it back',
    async (scene) => {
      const one = await scene.fresh()
      return { what: `POST /workers/a/checkpoint/${one.execution_id}`, token: scene.a.token, body: { ...completedCheckpoint(one), state: 'CANCELLED', events: [] }, headers: claimHeaders(one.generation) }
    },
    200,
  ],
  ['N084 a hundred thousand events', report({ events: Array.from({ length: 100_000 }, (_, i) => event({ id: `${i}` })) }), 422],
  ['N084 an event of an unknown type', report({ events: [event({ type: 'WORKFLOW_DANCED' })] }), 422],
  ['N084 an event with a number for an id', report({ events: [event({ id: 7 })] }), 422],
  ['N084 events that are none', report({ events: ['x'] }), 422],
  ['N084 a time beyond all calendars, another’s id and a place in the log', report({ events: [event({ id: 'far', time: '+275760-09-13T00:00:00Z', execution_id: other, seq: -1 })] }), 200],
  ['N084 the same event again', report({ events: [event({ id: 'far' }), event({ id: 'far' })] }), 200],
]

const secrets = (names: unknown, execution: (scene: WorkerFixture) => string = ({ mine }) => mine.execution_id): WorkerCase[1] =>
  byA(
    () => 'secrets/batch',
    (scene) => ({ execution_id: execution(scene), names }),
  )

const rest: WorkerCase[] = [
  ['N085 the release of another’s', ({ b, mine }) => ({ what: `POST /workers/b/release/${mine.execution_id}`, token: b.token, headers: claimHeaders(mine.generation) }), 409],
  ['N085 its progress', ({ b, mine }) => ({ what: `POST /workers/b/progress/${mine.execution_id}`, token: b.token, body: [{ task_id: 't', task_name: 't', value: 1 }] }), 409],
  ['N085 its approvals', ({ b, mine }) => ({ what: `GET /workers/b/approvals/${mine.execution_id}/x`, token: b.token }), 409],
  ['N085 a question in its name', ({ b, mine }) => ({ what: `POST /workers/b/approvals/${mine.execution_id}`, token: b.token, body: { task_call_id: 'x', task_name: 'x' } }), 409],
  ['N086 another’s execution', secrets(['one'], ({ theirs }) => theirs.execution_id), [403, { detail: 'Worker does not own this execution' }]],
  ['N086 one that has ended', secrets(['one'], ({ ended }) => ended.execution_id), 403],
  ['N086 one that is not there', secrets(['one'], () => other), 404],
  ['N086 one that is none', secrets(['one'], () => '../x'), 404],
  ['N086 after its eviction', ({ gone, lost }) => ({ what: 'POST /workers/c/secrets/batch', token: gone.token, body: { execution_id: lost.execution_id, names: ['one'] }, headers: claimHeaders(lost.generation) }), 409],
  ['N086 under an earlier claim of its own', ({ a, released }) => ({ what: 'POST /workers/a/secrets/batch', token: a.token, body: { execution_id: released.execution_id, names: ['one'] }, headers: claimHeaders(released.generation) }), 409],
  ['N086 what is not declared', secrets(['one', 'three', 'four']), [403, { detail: "Secrets not declared by workflow: ['four', 'three']" }]],
  ['N086 names that are no list', secrets('one'), 400],
  ['N086 names that are no texts', secrets(['one', 1]), 400],
  ['N086 names of prototypes', secrets(['__proto__', 'constructor']), [403, { detail: "Secrets not declared by workflow: ['__proto__', 'constructor']" }]],
  ['N086 a hundred thousand names', secrets(Array.from({ length: 100_000 }, (_, i) => `n${i}`)), 413],
  ['N087 what the version that runs declares', secrets(['one']), [200, { one: 'one' }]],
  ['N087 what only a later version declares', secrets(['two']), [403, { detail: "Secrets not declared by workflow: ['two']" }]],
]

const pong =
  (raw: string): WorkerCase[1] =>
  ({ a }) => ({ what: 'POST /workers/a/pong', token: a.token, raw })
const OK: Expected = [200, { status: 'ok' }]
const many = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`m${i}`, i])))

/** A snapshot counts as a whole or not at all; see the test of what is left. */
const metrics: WorkerCase[] = [
  ['N143 a snapshot', pong('{"healthy":true,"metrics":{"cpu \\"busy\\"":0.5}}'), OK],
  ...['NaN', 'Infinity', '-Infinity'].map((value): WorkerCase => [`N143 a metric that is ${value}`, pong(`{"metrics":{"cpu":${value}}}`), 422]),
  ...['1e999', '"0.5"', 'null', '{}', '[1]', 'true'].map((value): WorkerCase => [`N143 a metric that is ${value}`, pong(`{"metrics":{"bad":${value}}}`), OK]),
  ['N143 a hundred thousand metrics', pong(`{"metrics":${many}}`), OK],
  ...['a\\nb', '', 'x'.repeat(65), '__proto__', '\\u0000'].map((name): WorkerCase => [`N143 a metric called ${name.slice(0, 10)}`, pong(`{"metrics":{"${name}":1}}`), OK]),
  ...['[]', '1', '"cpu"', 'null'].map((value): WorkerCase => [`N143 metrics that are ${value}`, pong(`{"metrics":${value}}`), OK]),
  ['N143 no body', pong(''), OK],
]

const DOORS: [what: string, refused: Expected][] = [
  ['GET /executions', b5('execution:*:read')],
  ['GET /admin/secrets', b5('admin:secrets:read')],
  ['GET /admin/principals', b5('admin:principals:read')],
  ['POST /admin/roles', b5('admin:roles:manage')],
  ['GET /schedules', b5('schedule:*:read')],
  ['POST /workflows/w/a/run/async', b6('workflow:w:a:run')],
  ['POST /auth/test-token', b5('admin:*')],
]

const beyond: WorkerCase[] = [
  ...DOORS.map(([what, refused]): WorkerCase => [`N088 ${what} with a key of the role worker`, async ({ holding }) => ({ what, token: await holding(['worker:*:*']), body: what.startsWith('POST') ? null : undefined }), refused]),
  ...DOORS.map(([what]): WorkerCase => [`N088 ${what} with a session`, ({ a }) => ({ what, token: a.token }), b4]),
]

const register =
  (name: unknown, more: RequestSpec = {}): WorkerCase[1] =>
  async ({ system }) => ({
    what: 'POST /workers/register',
    token: await system.bootstrapToken(),
    body: { ...workerRecord('x', {}), name },
    ...more,
  })

const registrations: WorkerCase[] = [
  ['N089 a name that is online', register('a'), [409, { detail: "Worker 'a' is connected already" }]],
  ['N089 the same with another’s session', async (scene) => ({ ...(await register('a')(scene)), headers: { 'x-svc-session': scene.b.token } }), 409],
  ['N089 the name of a service account', register('root'), 200],
  ['N089 … who goes on', ({ admin }) => ({ what: 'GET /admin/principals/root', token: admin }), 200],
  ...['', 'a/b', '.', '..', '../x', 'w\n1', 'x'.repeat(100_000), 'a\0', 'ä', 'a b', 'a:b', '*', null, 1, ['a']].map((name): WorkerCase => [`N090 a worker called ${JSON.stringify(name).slice(0, 20)}`, register(name), 422]),
  ['N090 a worker called __proto__', register('__proto__'), 200],
]

export const workerCases: WorkerCase[] = [...strangers, ...claims, ...checkpoints, ...rest, ...metrics, ...beyond, ...registrations]
