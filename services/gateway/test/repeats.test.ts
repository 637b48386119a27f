import type { PlanForkRequest } from '@windlass/proto/windlass/executions/v1/history'
import { expect, test } from 'vitest'
import { ID, RUN } from './assert-response.ts'
import { startGateway, workflow } from './gateway-fixture.ts'

const INPUT = '{"n": 9007199254740993}'
const ROW = {
  ...{ execution_id: ID, workflow_id: ID, workflow_namespace: 'default', workflow_name: 'hello' },
  ...{ workflow_version: 1, state: 'FAILED', worker_name: '', created_by: '', attempts: 1 },
  ...{ schedule_id: '', parent_id: '', tags: { order: '17' }, revision: 3, last_seq: 9 },
  ...{ created_at: new Date(0), updated_at: new Date(0), queued_at: undefined },
  ...{ started_at: new Date(2_000), finished_at: new Date(5_500), error: 'x' },
}

async function setup(schema = '', declared?: number) {
  const plans: PlanForkRequest[] = []
  const gateway = await startGateway({
    catalog: {
      resolve: async ({ namespace, name, version }) =>
        workflow({
          ...{ namespace, name, version: version || 3, input_schema_json: schema },
          metadata_json: JSON.stringify({ task_names: [], priority: declared }),
        }),
    },
    history: {
      search: async () => ({
        ...{ rows: [ROW], total: 1, total_exact: true, next_cursor: '', cut: false },
      }),
      async planFork(request) {
        plans.push(request)
        const runs_again = [{ call_id: 'b', name: 'b', seq: 6 }]
        const found = request.after_seq <= 9
        return { found, last_seq: 9, entries: 2, calls: 1, runs_again, cut: false }
      },
      compare: async () => ({
        ...{ a: ROW, b: { ...ROW, workflow_version: 2, started_at: undefined } },
        ...{ same_input: false, same_output: true, input_members: ['n'], cut: false },
        ...{ same_calls: 4, different_calls: 1, only_a: 0, only_b: 2 },
        first: {
          ...{ call_id: 'b', name: 'charge', kind: 'result' },
          a: { seq: 4, last_seq: 5, state: 'completed', duration_ms: 12 },
          b: undefined,
        },
      }),
    },
  })
  const { call, executions } = gateway
  const headers = { 'content-type': 'application/json' }
  await call('POST', `${RUN}?version=2`, { body: INPUT, headers })
  const made = executions.rows.get(executions.last)
  if (made) executions.rows.set(ID, { ...made, execution: { ...made.execution, execution_id: ID } })
  const post = (what: string, body?: string, more = {}) =>
    call('POST', `/executions/${ID}/${what}`, { body, headers: { ...headers, ...more } })
  return { ...gateway, post, plans }
}

test('POST .../rerun: a create with the stored input, version and tags of the execution', async () => {
  const { post, executions } = await setup()
  const response = await post('rerun')
  expect(response.status).toBe(200)
  expect(await response.text()).toContain(`"input":${INPUT},`)
  expect(response.headers.get('x-svc-execution-id')).toBe(executions.last)
  expect(executions.last).not.toBe(ID)
  expect(executions.commands.at(-1)?.body).toMatchObject({
    $case: 'create',
    value: {
      ...{ input_json: INPUT, workflow_version: 2, origin_id: ID, tags: { order: '17' } },
      ...{ schedule_id: '', parent_id: '', depth: 0 },
    },
  })
})

test('POST .../rerun with an input and a version: these, byte for byte', async () => {
  const { post, executions } = await setup()
  for (const input of ['[1.0, 1e400]', 'null', '"\\ud800"']) {
    expect((await post('rerun', `{"input": ${input}, "version": 3}`)).status).toBe(200)
    expect(executions.commands.at(-1)?.body).toMatchObject({
      value: { input_json: input, workflow_version: 3 },
    })
  }
})

test('the same Idempotency-Key: one execution; another request under it has another hash', async () => {
  const { post, executions } = await setup()
  const key = { 'idempotency-key': 'k' }
  const ids = []
  for (const what of ['rerun', 'rerun']) {
    await post(what, '{}', key)
    ids.push(executions.last)
  }
  expect(new Set(ids).size).toBe(1)
  const hashOf = (position: number) => {
    const { body } = executions.commands.at(position) ?? {}
    return body?.$case === 'create' ? body.value.request_hash : undefined
  }
  await post('rerun', '{"version": 3}', key)
  expect(hashOf(-3)).toMatch(/./)
  expect([hashOf(-2) === hashOf(-3), hashOf(-1) === hashOf(-2)]).toEqual([true, false])
})

test('POST .../fork: the plan, and a fork with the place in the log', async () => {
  const { post, executions, plans } = await setup()
  const response = await post('fork', '{"after_seq": 5, "input": {"n":2}}')
  const plan = {
    entries: 2,
    calls: 1,
    runs_again: [{ call_id: 'b', name: 'b', seq: 6 }],
    cut: false,
  }
  expect(await response.json()).toMatchObject({
    plan,
    execution: { execution_id: executions.last, state: 'SCHEDULED' },
  })
  expect(plans).toEqual([{ execution_id: ID, after_seq: 5 }])
  expect(executions.commands.at(-1)?.body).toMatchObject({
    $case: 'fork',
    value: { after_seq: 5, create: { input_json: '{"n":2}', origin_id: ID, workflow_version: 2 } },
  })
})

test('POST .../fork with dry_run: the plan alone', async () => {
  const { post, executions } = await setup()
  const before = executions.commands.length
  const response = await post('fork', '{"after_seq": 5, "dry_run": true}')
  expect(await response.json()).toMatchObject({ plan: { calls: 1 }, execution: null })
  expect(executions.commands.length).toBe(before)
})

test('POST .../rerun and .../fork with detailed: the whole context', async () => {
  const { post } = await setup()
  const events = expect.any(Array)
  expect(await (await post('rerun?detailed=true')).json()).toMatchObject({ events })
  const fork = await post('fork?detailed=true', '{"after_seq": 5}')
  expect(await fork.json()).toMatchObject({ execution: { events } })
  expect((await post('rerun?detailed=maybe')).status).toBe(422)
})

test.each([
  ['rerun', '{}'],
  ['fork', '{"after_seq": 5}'],
])(
  'priority of a %s: of the request, else of the workflow, else 5; others are 422',
  async (what, body) => {
    const priorityOf = async (query: string, declared?: number) => {
      const { post, executions } = await setup('', declared)
      expect((await post(`${what}${query}`, body)).status).toBe(200)
      const { body: made } = executions.commands.at(-1) ?? {}
      if (made?.$case === 'fork') return made.value.create?.priority
      return made?.$case === 'create' ? made.value.priority : undefined
    }
    expect(await priorityOf('')).toBe(5)
    expect(await priorityOf('', 3)).toBe(3)
    expect(await priorityOf('?priority=0', 3)).toBe(0)
    expect(await priorityOf('?priority=9')).toBe(9)

    const { post, executions } = await setup()
    const before = executions.commands.length
    for (const wrong of ['10', '-1', '1.5', '']) {
      const response = await post(`${what}?priority=${wrong}`, body)
      const { detail } = (await response.json()) as { detail: { loc: unknown[] }[] }
      expect([response.status, detail[0]?.loc], wrong).toEqual([422, ['query', 'priority']])
    }
    expect(executions.commands.length).toBe(before)
  },
)

const WRONG: [what: string, body: string | undefined, loc: unknown[]][] = [
  ['fork', undefined, ['body']],
  ['fork', '{}', ['body', 'after_seq']],
  ['fork', '{"after_seq": -1}', ['body', 'after_seq']],
  ['fork', '{"after_seq": 1.5}', ['body', 'after_seq']],
  ['fork', '{"after_seq": 10}', ['body', 'after_seq']],
  ['fork', '{"after_seq": 1, "dry_run": "yes"}', ['body', 'dry_run']],
  ['fork', '{"after_seq": 1, "seq": 1}', ['body', 'seq']],
  ['rerun', '{"version": 0}', ['body', 'version']],
  ['rerun', '{"version": "1"}', ['body', 'version']],
  ['rerun', '{"inputs": 1}', ['body', 'inputs']],
  ['rerun', '{"input": "text"}', ['body', 'input']],
  ['fork', '{"after_seq": 1, "input": "text", "dry_run": true}', ['body', 'input']],
]

test('wrong bodies and inputs that violate the schema: 422 with the place, and nothing starts', async () => {
  const { post, executions } = await setup('{"type":"object"}')
  const before = executions.commands.length
  for (const [what, body, loc] of WRONG) {
    const response = await post(what, body)
    const { detail } = (await response.json()) as { detail: { loc: unknown[] }[] }
    expect([response.status, detail[0]?.loc], `${what} ${body}`).toEqual([422, loc])
  }
  expect(executions.commands.length).toBe(before)
})

test('an execution that does not exist: 404', async () => {
  const { call } = await setup()
  const unknown = 'f'.repeat(32)
  expect((await call('POST', `/executions/${unknown}/rerun`)).status).toBe(404)
  expect((await call('GET', `/executions/x/diff/${ID}`)).status).toBe(404)
})

test('GET .../diff: inputs, versions, calls and seconds of both', async () => {
  const { call } = await setup()
  const found = await (await call('GET', `/executions/${ID}/diff/${ID}`)).json()
  expect(found).toMatchObject({
    a: { workflow_version: 1, queue_wait: 2, run_time: 3.5 },
    b: { workflow_version: 2, queue_wait: null, run_time: null },
    ...{ same_workflow: true, same_version: false },
    ...{ input: { same: false, members: ['n'] }, output: { same: true } },
    calls: {
      ...{ same: 4, different: 1, only_a: 0, only_b: 2, cut: false },
      first: { call_id: 'b', kind: 'result', a: { duration_ms: 12 }, b: null },
    },
  })
})

test('executions of an earlier release: 503 for a fork and a comparison', async () => {
  const { call, json, executions } = await startGateway()
  await call('POST', RUN)
  const id = executions.last
  expect((await json('POST', `/executions/${id}/fork`, { after_seq: 0 })).status).toBe(503)
  expect((await call('GET', `/executions/${id}/diff/${id}`)).status).toBe(503)
  expect((await json('POST', `/executions/${id}/rerun`, {})).status).toBe(200)
})
