import { expect, test } from 'vitest'
import { cliFixture } from './cli-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'
const AT = '2030-01-01T00:00:00Z'

/** Every filter of the API with the option that sends it. */
const FILTERS: [option: string, value: string, parameter: string][] = [
  ['state', 'failed,running', 'state'],
  ['exclude-state', 'paused', 'exclude_state'],
  ['namespace', 'team', 'namespace'],
  ['workflow', 'report', 'workflow_name'],
  ['version', '3', 'version'],
  ['schedule', ID, 'schedule_id'],
  ['worker', 'w1', 'worker_name'],
  ['created-by', 'ann', 'created_by'],
  ['parent', ID, 'parent_id'],
  ['created-after', AT, 'created_after'],
  ['created-before', AT, 'created_before'],
  ['finished-after', AT, 'finished_after'],
  ['finished-before', AT, 'finished_before'],
  ['min-duration', '1.5', 'min_duration'],
  ['max-duration', '9', 'max_duration'],
  ['id', '01234567', 'id'],
  ['tags', 'a=b', 'tags'],
  ['error', 'boom', 'error'],
  ['payload', 'input.order=7', 'payload'],
]
const PAGE: typeof FILTERS = [
  ['sort', '-finished', 'sort'],
  ['cursor', 'abc', 'cursor'],
  ['limit', '9', 'limit'],
]

const given = (filters: typeof FILTERS) => filters.map(([option, value]) => `--${option}=${value}`)
const sent = (filters: typeof FILTERS): [string, string][] =>
  filters.map(([, value, name]) => [name, value])

test('execution list: every filter of the search is an option', async () => {
  const { api, windlass } = await cliFixture()
  const query = new URLSearchParams(sent([...FILTERS, ...PAGE]))
  api.answers.set(`GET /executions?${query}`, { body: '{"executions":[]}' })
  expect(await windlass('execution', 'list', ...given([...FILTERS, ...PAGE]))).toMatchObject({
    status: 0,
  })
})

const ROWS = '[{"at":"t","group":"hello","started":3,"ended":2,"failed":1}]'

const READS: [argv: string[], route: string, answer: string, out: string | RegExp][] = [
  [
    ['execution', 'stats', '--from', AT, '--step', '60', '--group', 'workflow'],
    `/executions/stats?${new URLSearchParams({ from: AT, step: '60', group: 'workflow' })}`,
    `{"buckets":${ROWS}}`,
    /AT +GROUP +STARTED[^\n]*\n +t +hello +3 +2 +1\n/,
  ],
  [['execution', 'explain', ID], `/executions/${ID}/explain`, '{"reason":"x"}', '{"reason":"x"}\n'],
  [['execution', 'timeline', ID], `/executions/${ID}/timeline`, '{"calls":{}}', '{"calls":{}}\n'],
  [
    ['execution', 'log', ID, '--before', '9', '--types', 'TASK_FAILED', '--payloads', 'full'],
    `/executions/${ID}/log?before=9&types=TASK_FAILED&payloads=full`,
    '{"entries":[{"seq":7,"type":"TASK_FAILED"}]}',
    /7 .*TASK_FAILED/,
  ],
  [
    ['execution', 'logs', ID, '--level', 'error', '--task', 'a/1'],
    `/executions/${ID}/logs?level=error&task_id=a%2F1`,
    '{"lines":[{"seq":1,"level":"error","message":"no disk"}]}',
    /error +no disk/,
  ],
  [
    ['queue', 'show'],
    '/queue',
    '{"queues":[{"depth":4,"oldest":null,"requirement":{"packages":["numpy"]}}]}',
    /4 +\{"packages":\["numpy"\]\}/,
  ],
  [['worker', 'list'], '/workers', '[{"name":"w1","status":"online"}]', /w1 +online/],
  [['worker', 'show', 'w1'], '/workers/w1', '{"name":"w1"}', '{"name":"w1"}\n'],
  [
    ['worker', 'history', 'w1', '--step', '5'],
    '/workers/w1/history?step=5',
    `{"buckets":${ROWS}}`,
    /t +3 +2 +1/,
  ],
  [['audit', 'head'], '/admin/audit/head', '{"seq":7}', '{"seq":7}\n'],
  [['secret', 'uses', 'db url'], '/admin/secrets/db%20url/uses', '{"others":0}', '{"others":0}\n'],
  [['config', 'uses', 'db url'], '/admin/configs/db%20url/uses', '{"others":0}', '{"others":0}\n'],
  [['workflow', 'configs', 'a/b'], '/workflows/a/b/configs', '{"cut":false}', '{"cut":false}\n'],
  [
    ['view', 'list'],
    '/me/views',
    '{"views":[{"name":"mine","screen":"executions","query":"state=failed"}]}',
    /mine +executions +state=failed/,
  ],
  [
    ['execution', 'bulk-progress', ID],
    `/executions/bulk/${ID}`,
    '{"state":"ended"}',
    '{"state":"ended"}\n',
  ],
]

test.each(READS)('%j: reads its route and prints the answer', async (argv, route, answer, out) => {
  const { api, windlass } = await cliFixture()
  api.answers.set(`GET ${route}`, { body: answer })
  const shown = await windlass(...argv)
  expect(shown).toMatchObject({ status: 0, err: '' })
  if (typeof out === 'string') expect(shown.out).toBe(out)
  else expect(shown.out).toMatch(out)
})

test('lists with --json: the whole answer, unchanged', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('GET /queue', { body: '{"queues": [], "cut":true}' })
  expect(await windlass('queue', 'show', '--json')).toMatchObject({
    out: '{"queues": [], "cut":true}\n',
  })
})

test('execution bulk without --expect: counts, and changes nothing', async () => {
  const { api, windlass } = await cliFixture()
  const preview = '{"count":3,"forbidden":1,"left_out":2,"sample":[]}'
  api.answers.set('POST /executions/bulk', { body: preview })
  const shown = await windlass('execution', 'bulk', 'cancel', ...given(FILTERS))
  expect(shown).toMatchObject({ status: 0, out: expect.stringContaining('--expect 3') })
  expect(JSON.parse(api.seen[0]?.body ?? '')).toEqual({
    filter: Object.fromEntries(sent(FILTERS)),
    ...{ action: 'cancel', dry_run: true },
  })
  await windlass('execution', 'bulk', 'cancel', '--state', 'running', '--expect', '3', '--dry-run')
  expect(JSON.parse(api.seen[1]?.body ?? '')).toMatchObject({ dry_run: true, expect: 3 })
})

test('execution bulk with --expect: acts; status 1 if an execution was refused', async () => {
  const { api, windlass } = await cliFixture()
  const result = `{"id":"${ID}","total":3,"done":3,"failed":0,"stopped":false}`
  api.answers.set('POST /executions/bulk', { body: result })
  const act = ['execution', 'bulk', 'fork', '--workflow', 'x', '--expect', '3', '--after-seq', '5']
  const more = ['--input', '{"n": 1.0}', '--to-version', '2']
  const done = await windlass(...act, ...more)
  expect(done).toMatchObject({ status: 0, out: expect.stringContaining('3 of 3 done, 0 refused') })
  expect(api.seen[0]?.body).toBe(
    '{"filter":{"workflow_name":"x"},"action":"fork","dry_run":false,"expect":3,"input":{"n": 1.0},"version":2,"after_seq":5}',
  )
  expect(api.seen[0]?.headers.accept).toBe('application/json')
  api.answers.set('POST /executions/bulk', { body: result.replace('"failed":0', '"failed":1') })
  expect((await windlass(...act, '--json')).status).toBe(1)
  expect((await windlass(...act, '--expect', 'many')).err).toContain('--expect must be a whole')
})

test('view save and view delete: send the name in the path', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('PUT /me/views/my%20failures', { body: '{"name":"my failures"}' })
  api.answers.set('DELETE /me/views/my%20failures', { body: '{"message":"View deleted"}' })
  await windlass('view', 'save', 'my failures', 'executions', 'state=failed')
  expect(api.seen[0]?.headers).not.toHaveProperty('if-match')
  expect(api.seen[0]?.body).toBe('{"screen":"executions","query":"state=failed"}')
  await windlass('view', 'save', 'my failures', 'x', '--if-revision', 'r1')
  expect(api.seen[1]?.headers['if-match']).toBe('"r1"')
  expect(await windlass('view', 'delete', 'my failures')).toMatchObject({ out: 'View deleted\n' })
  expect(await windlass('view', 'delete', 'a/b')).toMatchObject({ status: 2 })
})
