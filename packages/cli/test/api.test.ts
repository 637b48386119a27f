import { expect, test } from 'vitest'
import { cliFixture, writeSource } from './cli-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'
const summary = (state: string) =>
  `{"execution_id":"${ID}","workflow_namespace":"team","workflow_name":"report","state":"${state}","output": 1.0}`

test('workflow upload: sends the file under its name and lists its workflows', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('POST /workflows', { body: '[{"namespace":"default","name":"a","version":1}]' })

  const { status, out } = await windlass('workflow', 'upload', await writeSource('# source\n'))
  expect({ status, out }).toEqual({
    status: 0,
    out: '  NAMESPACE  NAME  VERSION\n  default    a     1\n',
  })
  expect(api.seen[0]?.body).toContain('filename="flow.py"')
  expect(api.seen[0]?.body).toContain('# source\n')
})

test('lists: tables, or the unchanged answer with --json', async () => {
  const { api, windlass } = await cliFixture()
  const rows =
    '[{"namespace":"team","name":"long name","version":12},{"namespace":"x","name":"b","version":1}]'
  api.answers.set('GET /workflows?namespace=team', { body: rows })
  api.answers.set('GET /executions?state=failed&limit=5', {
    body: `{"executions":[${summary('FAILED')}],"total":1,"limit":5,"offset":0}`,
  })

  expect((await windlass('workflow', 'list', '--namespace', 'team', '--json')).out).toBe(
    `${rows}\n`,
  )
  expect((await windlass('workflow', 'list', '--namespace', 'team')).out.split('\n')).toEqual([
    '  NAMESPACE  NAME       VERSION',
    '  team       long name  12',
    '  x          b          1',
    '',
  ])
  const { out } = await windlass('execution', 'list', '--state', 'failed', '--limit', '5')
  expect(out).toMatch(new RegExp(`${ID}\\s+team\\s+report\\s+FAILED`))
})

test.each([
  ['COMPLETED', 0],
  ['PAUSED', 0],
  ['FAILED', 1],
  ['CANCELLED', 1],
])(
  'a run ends %s: exit status %i, and the execution is printed unchanged',
  async (state, expected) => {
    const { api, windlass } = await cliFixture()
    api.answers.set('POST /workflows/team/report/run/sync?wait_for=paused&timeout=240', {
      body: summary(state),
    })

    const { status, out } = await windlass(
      'workflow',
      'run',
      'team/report',
      '{"n":9007199254740993}',
    )
    expect({ status, out }).toEqual({ status: expected, out: `${summary(state)}\n` })
    expect(api.seen[0]?.body).toBe('{"n":9007199254740993}')
  },
)

test('a run lasts longer than its request: polled until it has settled', async () => {
  const { api, windlass } = await cliFixture()
  const run =
    'POST /workflows/default/report/run/sync?version=3&priority=9&tags=order%3D7%2Cenv%3Dprod&detailed=true&wait_for=paused&timeout=240'
  api.answers.set(run, { body: summary('RUNNING') })
  api.answers.set(`GET /executions/${ID}?detailed=true`, { body: summary('FAILED') })

  const answer = await windlass(
    ...['workflow', 'run', 'report', '--version', '3', '--priority', '9', '--detailed'],
    ...['--tags', 'order=7,env=prod'],
  )
  expect(answer).toMatchObject({ status: 1, out: `${summary('FAILED')}\n` })
})

test('an input: JSON, text, a file, or null without one', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('POST /workflows/default/report/run/async', { body: summary('SCHEDULED') })
  const file = await writeSource('[1.0,\n 2]\n')

  for (const input of ['[1]', 'plain', `@${file}`, undefined]) {
    const { status } = await windlass(
      'workflow',
      'run',
      'report',
      '--async',
      ...(input ? [input] : []),
    )
    expect(status).toBe(0)
  }
  expect(api.seen.map(({ body }) => body)).toEqual(['[1]', '"plain"', '[1.0,\n 2]', 'null'])
})

test('execution show, resume and cancel: need the id only', async () => {
  const { api, windlass } = await cliFixture()
  const flow = '/workflows/team/report'
  api.answers.set(`GET /executions/${ID}`, { body: summary('PAUSED') })
  api.answers.set(`GET ${flow}/status/${ID}`, { body: summary('PAUSED') })
  api.answers.set(`POST ${flow}/resume/${ID}/sync?wait_for=paused&timeout=240`, {
    body: summary('COMPLETED'),
  })
  api.answers.set(`GET ${flow}/cancel/${ID}?mode=sync`, { body: summary('CANCELLED') })

  expect(await windlass('execution', 'show', ID)).toMatchObject({
    status: 0,
    out: `${summary('PAUSED')}\n`,
  })
  expect(await windlass('workflow', 'status', 'team/report', ID)).toMatchObject({ status: 0 })
  expect(await windlass('execution', 'resume', ID, '"go"')).toMatchObject({ status: 0 })
  expect(api.seen.at(-1)?.body).toBe('"go"')
  expect(await windlass('execution', 'cancel', ID, '--wait')).toMatchObject({ status: 0 })
})

test('a secret: text, or JSON with --json, and printed as it was set', async () => {
  const { api, windlass } = await cliFixture()
  const file = await writeSource('-----BEGIN-----\nabc\n')
  api.answers.set('POST /admin/secrets', { body: '{"status":"success","message":"saved"}' })
  for (const given of [['5432'], [`@${file}`], ['--json', '{"n":9007199254740993}']])
    expect(await windlass('secret', 'set', 'db port', ...given)).toMatchObject({ out: 'saved\n' })
  expect(api.seen.map(({ body }) => body)).toEqual([
    '{"name":"db port","value":"5432"}',
    '{"name":"db port","value":"-----BEGIN-----\\nabc"}',
    '{"name":"db port","value":{"n":9007199254740993}}',
  ])

  const shown = [
    ['"a\\nb"', 'a\nb\n'],
    ['9007199254740993', '9007199254740993\n'],
  ]
  for (const [value, out] of shown) {
    api.answers.set('GET /admin/secrets/db%20port', { body: `{"name":"db port","value":${value}}` })
    expect(await windlass('secret', 'get', 'db port')).toMatchObject({ status: 0, out })
  }
  api.answers.set('GET /admin/secrets', { body: '["a","db port"]' })
  expect(await windlass('secret', 'list')).toMatchObject({ out: 'a\ndb port\n' })
  const details = {
    ...{ name: 'a', namespaces: ['team', 'x-*'], workflows: null, version: 3 },
    previous_until: '2030-01-01T00:00:00.000Z',
  }
  api.answers.set('GET /admin/secrets?detailed=true', { body: JSON.stringify([details]) })
  expect(await windlass('secret', 'list', '--detailed')).toMatchObject({
    out: 'a\tversion 3\tnamespaces team,x-*\tworkflows *\tprevious until 2030-01-01T00:00:00.000Z\n',
  })
  api.answers.set('GET /admin/secrets/a?version=previous', { body: '{"name":"a","value":"old"}' })
  expect(await windlass('secret', 'get', 'a', '--previous')).toMatchObject({ out: 'old\n' })
  const scope = ['--namespaces', 'team, x-*', '--workflows', '*', '--keep-previous', '60']
  await windlass('secret', 'set', 'a', 'v', ...scope)
  expect(JSON.parse(api.seen.at(-1)?.body ?? '')).toEqual({
    ...{ name: 'a', value: 'v', namespaces: ['team', 'x-*'], workflows: null },
    keep_previous: 60,
  })
  api.answers.set('DELETE /admin/secrets/a%2Bb', { body: '{"message":"deleted"}' })
  expect(await windlass('secret', 'delete', 'a+b')).toMatchObject({ out: 'deleted\n' })
})

test('SVC_AUTH_TOKEN: sent as bearer token', async () => {
  const { api, windlass } = await cliFixture({ env: { SVC_AUTH_TOKEN: 'ci.secret' } })
  api.answers.set('GET /workflows', { body: '[]' })
  await windlass('workflow', 'list')
  expect(api.seen[0]?.headers.authorization).toBe('Bearer ci.secret')
})

test.each([
  [['workflow', 'run'], 'missing WORKFLOW'],
  [['workflow', 'run', 'a/b/c'], "'a/b/c' is not a workflow reference"],
  [['workflow', 'run', '../x'], 'Invalid workflow namespace'],
  [['workflow', 'run', 'x', '--version', '0'], '--version must be'],
  [['workflow', 'run', 'x', '--priority', '10'], '--priority must be a whole number from 0 to 9'],
  [['workflow', 'diff', 'x', '1', 'b'], 'a version must be a whole number from 1'],
  [['workflow', 'list', 'extra'], "unexpected argument 'extra'"],
  [['workflow', 'list', '--colour'], "unknown option '--colour'; see"],
  [['principal', 'create', 'ci', '--role=x'], "unknown option '--role'; did you mean '--roles'?"],
  [['prncipal', 'list'], "unknown command 'prncipal list'; did you mean 'principal'?"],
  [['exection'], "unknown command 'exection'; did you mean 'execution'?"],
  [['execution', 'sohw', 'x'], "did you mean 'execution show'?; see windlass execution --help"],
  [['execution', 'a\u001b\n'], "unknown command 'execution a\\u001b\\u000a'; see"],
  [['key', 'create', 'ci', 'k', '--days'], '--days needs a value; see'],
  [
    ['key', 'create', 'ci', 'k', '--days', '-1'],
    '--days needs a value; one that begins with a hyphen is written --days=-…; see',
  ],
  [['me', '--json=x'], '--json takes no value; see'],
  [['execution', 'show', '..'], 'Invalid execution id'],
  [['secret', 'get', 'a/b'], 'Invalid secret name'],
  [['secret', 'set', '..', 'x'], 'Invalid secret name'],
  [['secret', 'set', 'a', '{', '--json'], 'the value is not JSON'],
  [['secret', 'set', 'a', 'b', '--keep-previous', '1h'], 'a whole number of seconds'],
  [['workflow', 'fly'], "unknown command 'workflow fly'"],
  [['fly'], "unknown command 'fly'"],
])('wrong use %j: exit status 2, and no request is sent', async (argv, expected) => {
  const { api, windlass } = await cliFixture()
  const { status, err } = await windlass(...argv)
  expect(status).toBe(2)
  expect(err).toContain(expected)
  expect(api.seen).toEqual([])
})

test('help: lists every command, and the options of one', async () => {
  const { windlass } = await cliFixture()
  for (const argv of [[], ['--help'], ['help']]) {
    const { status, out } = await windlass(...argv)
    expect(status).toBe(0)
    for (const words of ['worker start', 'server bootstrap-token', 'workflow run', 'mcp'])
      expect(out).toContain(`windlass ${words}`)
  }
  const { out } = await windlass('workflow', 'run', '--help')
  expect(out).toContain('windlass workflow run WORKFLOW [INPUT]')
  expect(out).toContain('--async')
  expect((await windlass('workflow')).status).toBe(2)
})

test('secrets rotate-key: repeats batches until no secret is under an earlier key', async () => {
  const { api, windlass } = await cliFixture()
  const answers = [
    '{"key_id":"k2","rotated":2,"remaining":3,"unreadable":[],"next":"b c"}',
    '{"key_id":"k2","rotated":2,"remaining":1,"unreadable":[],"next":null}',
    '{"key_id":"k2","rotated":1,"remaining":0,"unreadable":[],"next":null}',
  ]
  const next = () => ({ body: answers.shift() ?? '' })
  api.answers.set('POST /admin/secrets/rotate-key', next)
  api.answers.set('POST /admin/secrets/rotate-key?after=b+c', next)
  expect(await windlass('secrets', 'rotate-key')).toEqual({
    status: 0,
    out: 'all secrets are encrypted under the key k2\n',
    err: '2 done, 3 to go\n4 done, 1 to go\n5 done, 0 to go\n',
  })
  expect(api.seen.map(({ route }) => route.split('?')[1])).toEqual([
    undefined,
    'after=b+c',
    undefined,
  ])
})

test('secrets rotate-key with secrets that no key decrypts: names them and fails', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('POST /admin/secrets/rotate-key', {
    body: '{"key_id":"k2","rotated":0,"remaining":2,"unreadable":["a","b"],"next":null}',
  })
  expect(await windlass('secrets', 'rotate-key')).toMatchObject({
    status: 1,
    err: expect.stringContaining('no configured key decrypts these secrets: a, b'),
  })
})
