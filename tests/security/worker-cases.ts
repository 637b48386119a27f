import { workerRecord } from '@windlass/testkit/worker-record'
import type { RequestSpec } from './auth-system.ts'
import { b5, b6, type Expected } from './cases.ts'
import { claimHeaders, completedCheckpoint, type WorkerFixture } from './worker-fixture.ts'

type WorkerRequest = RequestSpec & { what: string }
export type WorkerCase = [name: string, ask: (fixture: WorkerFixture) => WorkerRequest | Promise<WorkerRequest>, Expected]

/** A request of worker `a` under its own name. */
const byA =
  (call: (fixture: WorkerFixture) => string, body?: (fixture: WorkerFixture) => unknown): WorkerCase[1] =>
  (fixture) => ({ what: `POST /workers/a/${call(fixture)}`, token: fixture.a.token, body: body?.(fixture) })

const other = '0'.repeat(32)
const mismatch = (as: string, name: string): Expected => [403, { detail: `Worker identity mismatch: authenticated as '${as}', but accessing endpoint for '${name}'` }]

const ROUTES = ['GET /workers/b/connect', ...['claim', 'checkpoint', 'release', 'progress', 'logs', 'approvals'].map((verb) => `POST /workers/b/${verb}/${other}`), `GET /workers/b/approvals/${other}/x`, 'POST /workers/b/checkpoints', 'POST /workers/b/pong', 'POST /workers/b/secrets/batch']

const identities: WorkerCase[] = [
  ...ROUTES.map((what): WorkerCase => [`N076: ${what} as another worker`, ({ a }) => ({ what, token: a.token }), mismatch('a', 'b')]),
  ['N076: administrator on a worker route', ({ admin }) => ({ what: 'POST /workers/b/pong', token: admin }), mismatch('root', 'b')],
  ['N076: no credential', () => ({ what: 'POST /workers/b/pong' }), [401, { detail: 'Authorization token required' }]],
  ['N077: name in another case', ({ a }) => ({ what: 'POST /workers/A/pong', token: a.token }), mismatch('a', 'A')],
  ...['a%20', 'a/', 'a%CC%81', 'a%00', '%20a', '.', '%2e%2e'].map((name): WorkerCase => [`N077: name ${name}`, ({ a }) => ({ what: `POST /workers/${name}/pong`, token: a.token }), name === 'a/' ? 404 : 403]),
]

const claims: WorkerCase[] = [
  ['N078: claim of work leased to another worker', byA(({ sent }) => `claim/${sent}`), 409],
  ['N078: claim of work claimed by another worker', byA(({ theirs }) => `claim/${theirs.execution_id}`), 409],
  ['N078: claim of queued work', byA(({ queued }) => `claim/${queued}`), 409],
  ['N078: claim of a completed execution', byA(({ ended }) => `claim/${ended.execution_id}`), 409],
  ['N078: claim of an unknown execution', byA(() => `claim/${other}`), 404],
  ['N078: claim of a cancelled execution', byA(({ cancelled }) => `claim/${cancelled}`), 409],
  ['N079: repeated claim of its own work', byA(({ mine }) => `claim/${mine.execution_id}`), 200],
  ['N079: claim after eviction', ({ evicted, lost }) => ({ what: `POST /workers/c/claim/${lost.execution_id}`, token: evicted.token }), 409],
]

/** A valid checkpoint of worker `a` for `mine`, with changes. */
const report =
  (change: object = {}, headers: (fixture: WorkerFixture) => Record<string, string> = ({ mine }) => claimHeaders(mine.generation)): WorkerCase[1] =>
  (fixture) => ({
    what: `POST /workers/a/checkpoint/${fixture.mine.execution_id}`,
    token: fixture.a.token,
    body: { ...completedCheckpoint(fixture.mine), state: 'RUNNING', output: undefined, events: [], ...change },
    headers: headers(fixture),
  })
const event = (change: object) => ({ ...completedCheckpoint({ execution_id: other, generation: '' }).events[0], type: 'TASK_STARTED', ...change })

const checkpoints: WorkerCase[] = [
  ['N080: checkpoint body names another execution', report({ execution_id: other }), 422],
  ['N081: checkpoint of a worker that is not the claim holder', ({ b, mine }) => ({ what: `POST /workers/b/checkpoint/${mine.execution_id}`, token: b.token, body: completedCheckpoint(mine), headers: claimHeaders(mine.generation) }), 409],
  ['N081: the same without a generation', ({ b, mine }) => ({ what: `POST /workers/b/checkpoint/${mine.execution_id}`, token: b.token, body: completedCheckpoint(mine) }), 409],
  ['N081: checkpoint of the claim holder without a generation', report({}, () => ({})), 200],
  ['N081: checkpoint with a lower generation', report({ state: 'COMPLETED' }, () => claimHeaders('0')), 409],
  ['N081: checkpoint with a higher generation', report({ state: 'COMPLETED' }, ({ mine }) => claimHeaders(`${Number(mine.generation) + 1}`)), 409],
  ...['abc', '9223372036854775808', '-1', '1.0', ' '].map((generation): WorkerCase => [`N081: under the generation ${JSON.stringify(generation)}`, report({}, () => claimHeaders(generation)), 422]),
  ['N081: under an earlier claim of its own', ({ a, released }) => ({ what: `POST /workers/a/checkpoint/${released.execution_id}`, token: a.token, body: completedCheckpoint(released), headers: claimHeaders(released.generation) }), 409],
  ['N081: after its eviction', ({ evicted, lost }) => ({ what: `POST /workers/c/checkpoint/${lost.execution_id}`, token: evicted.token, body: completedCheckpoint(lost), headers: claimHeaders(lost.generation) }), 409],
  ['N082: the same end again', ({ a, ended }) => ({ what: `POST /workers/a/checkpoint/${ended.execution_id}`, token: a.token, body: completedCheckpoint(ended), headers: claimHeaders(ended.generation) }), 200],
  ['N082: second end with another output', ({ a, ended }) => ({ what: `POST /workers/a/checkpoint/${ended.execution_id}`, token: a.token, body: completedCheckpoint(ended, 2), headers: claimHeaders(ended.generation) }), 409],
  ...['SCHEDULED', 'CREATED', 'RESUMING', 'CANCELLING'].map((state): WorkerCase => [`N083: state ${state}`, report({ state }), 422]),
  ...['running', 'DANCING', '', 1, null].map((state): WorkerCase => [`N083: state ${JSON.stringify(state)}`, report({ state }), 422]),
  ['N083: unrequested CANCELLED without a generation', report({ state: 'CANCELLED' }, () => ({})), 409],
  [
    'N083: unrequested CANCELLED releases the execution',
    async (fixture) => {
      const one = await fixture.fresh()
      return { what: `POST /workers/a/checkpoint/${one.execution_id}`, token: fixture.a.token, body: { ...completedCheckpoint(one), state: 'CANCELLED', events: [] }, headers: claimHeaders(one.generation) }
    },
    200,
  ],
  ['N084: 100,000 events', report({ events: Array.from({ length: 100_000 }, (_, i) => event({ id: `${i}` })) }), 422],
  ['N084: event of an unknown type', report({ events: [event({ type: 'WORKFLOW_DANCED' })] }), 422],
  ['N084: event with a number as id', report({ events: [event({ id: 7 })] }), 422],
  ['N084: events that are no objects', report({ events: ['x'] }), 422],
  ['N084: event with a time out of range, a foreign execution_id and a seq', report({ events: [event({ id: 'far', time: '+275760-09-13T00:00:00Z', execution_id: other, seq: -1 })] }), 200],
  ['N084: the same event twice', report({ events: [event({ id: 'far' }), event({ id: 'far' })] }), 200],
]

const secrets = (names: unknown, execution: (fixture: WorkerFixture) => string = ({ mine }) => mine.execution_id): WorkerCase[1] =>
  byA(
    () => 'secrets/batch',
    (fixture) => ({ execution_id: execution(fixture), names }),
  )

const rest: WorkerCase[] = [
  ['N085: release of an execution of another worker', ({ b, mine }) => ({ what: `POST /workers/b/release/${mine.execution_id}`, token: b.token, headers: claimHeaders(mine.generation) }), 409],
  ['N085: progress of an execution of another worker', ({ b, mine }) => ({ what: `POST /workers/b/progress/${mine.execution_id}`, token: b.token, body: [{ task_id: 't', task_name: 't', value: 1 }] }), 409],
  ['N085: captured lines of an execution of another worker', ({ b, mine }) => ({ what: `POST /workers/b/logs/${mine.execution_id}`, token: b.token, body: { first: 0, lines: [] } }), 409],
  ['N085: approval of an execution of another worker', ({ b, mine }) => ({ what: `GET /workers/b/approvals/${mine.execution_id}/x`, token: b.token }), 409],
  ['N085: approval request for an execution of another worker', ({ b, mine }) => ({ what: `POST /workers/b/approvals/${mine.execution_id}`, token: b.token, body: { task_call_id: 'x', task_name: 'x' } }), 409],
  ['N086: secrets for an execution of another worker', secrets(['one'], ({ theirs }) => theirs.execution_id), [403, { detail: 'Worker does not own this execution' }]],
  ['N086: secrets for a completed execution', secrets(['one'], ({ ended }) => ended.execution_id), 403],
  ['N086: secrets for an unknown execution', secrets(['one'], () => other), 404],
  ['N086: secrets for a malformed execution id', secrets(['one'], () => '../x'), 404],
  ['N086: secrets after eviction', ({ evicted, lost }) => ({ what: 'POST /workers/c/secrets/batch', token: evicted.token, body: { execution_id: lost.execution_id, names: ['one'] }, headers: claimHeaders(lost.generation) }), 409],
  ['N086: secrets with the generation of an earlier claim', ({ a, released }) => ({ what: 'POST /workers/a/secrets/batch', token: a.token, body: { execution_id: released.execution_id, names: ['one'] }, headers: claimHeaders(released.generation) }), 409],
  ['N086: undeclared secrets', secrets(['one', 'three', 'four']), [403, { detail: "Secrets not declared by workflow: ['four', 'three']" }]],
  ['N086: names as a string', secrets('one'), 400],
  ['N086: names with a number', secrets(['one', 1]), 400],
  ['N086: names of prototype members', secrets(['__proto__', 'constructor']), [403, { detail: "Secrets not declared by workflow: ['__proto__', 'constructor']" }]],
  ['N086: 100,000 names', secrets(Array.from({ length: 100_000 }, (_, i) => `n${i}`)), 413],
  ['N087: secret declared by the running version', secrets(['one']), [200, { one: 'one' }]],
  ['N087: secret declared only by a later version', secrets(['two']), [403, { detail: "Secrets not declared by workflow: ['two']" }]],
]

const pong =
  (raw: string): WorkerCase[1] =>
  ({ a }) => ({ what: 'POST /workers/a/pong', token: a.token, raw })
const OK: Expected = [200, { status: 'ok' }]
const metricsOf = (length: number) => JSON.stringify(Object.fromEntries(Array.from({ length }, (_, i) => [`m${i}`, i])))

/** A snapshot is stored whole or not at all; workers.test.ts compares what is left. */
const metrics: WorkerCase[] = [
  ['N143: valid snapshot', pong('{"healthy":true,"metrics":{"cpu \\"busy\\"":0.5}}'), OK],
  ...['NaN', 'Infinity', '-Infinity'].map((value): WorkerCase => [`N143: metric with value ${value}`, pong(`{"metrics":{"cpu":${value}}}`), 422]),
  ...['1e999', '"0.5"', 'null', '{}', '[1]', 'true'].map((value): WorkerCase => [`N143: metric with value ${value}`, pong(`{"metrics":{"bad":${value}}}`), OK]),
  ['N143: 3,000 metrics', pong(`{"metrics":${metricsOf(3_000)}}`), OK],
  ['N143: 100,000 metrics, beyond the size of a pong', pong(`{"metrics":${metricsOf(100_000)}}`), 413],
  ...['a\\nb', '', 'x'.repeat(65), '__proto__', '\\u0000'].map((name): WorkerCase => [`N143: metric named ${name.slice(0, 10)}`, pong(`{"metrics":{"${name}":1}}`), OK]),
  ...['[]', '1', '"cpu"', 'null'].map((value): WorkerCase => [`N143: metrics are ${value}`, pong(`{"metrics":${value}}`), OK]),
  ['N143: no body', pong(''), OK],
]

const OTHER_ROUTES: [what: string, refused: Expected][] = [
  ['GET /executions', b5('execution:*:read')],
  ['GET /admin/secrets', b5('admin:secrets:read')],
  ['GET /admin/principals', b5('admin:principals:read')],
  ['POST /admin/roles', b5('admin:roles:manage')],
  ['GET /schedules', b5('schedule:*:read')],
  ['POST /workflows/w/a/run/async', b6('workflow:w:a:run')],
  ['POST /auth/test-token', b5('admin:*')],
]

const beyond: WorkerCase[] = [
  ...OTHER_ROUTES.map(([what, refused]): WorkerCase => [`N088: ${what} with a key of the role worker`, async ({ keyWith }) => ({ what, token: await keyWith(['worker:*:*']), body: what.startsWith('POST') ? null : undefined }), refused]),
  ...OTHER_ROUTES.map(([what]): WorkerCase => [`N088: ${what} with a worker session`, ({ a }) => ({ what, token: a.token }), 403]),
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
  ['N089: registration under the name of a connected worker', register('a'), [409, { detail: "Worker 'a' is connected already" }]],
  ['N089: the same with the session of another worker', async (fixture) => ({ ...(await register('a')(fixture)), headers: { 'x-svc-session': fixture.b.token } }), 409],
  ['N089: registration under the name of a service account', register('root'), 200],
  ['N089: the service account afterwards', ({ admin }) => ({ what: 'GET /admin/principals/root', token: admin }), 200],
  ...['', 'a/b', '.', '..', '../x', 'w\n1', 'x'.repeat(100_000), 'a\0', 'ä', 'a b', 'a:b', '*', null, 1, ['a']].map((name): WorkerCase => [`N090: worker named ${JSON.stringify(name).slice(0, 20)}`, register(name), 422]),
  ['N090: worker named __proto__', register('__proto__'), 200],
]

export const workerCases: WorkerCase[] = [...identities, ...claims, ...checkpoints, ...rest, ...metrics, ...beyond, ...registrations]
