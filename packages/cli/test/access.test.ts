import { expect, test } from 'vitest'
import { cliFixture, writeSource } from './cli-fixture.ts'

const SUBJECT = 'https://idp/x|ü: 1'
const ROUTE = `/admin/principals/${encodeURIComponent(SUBJECT)}`
const principal = (members: object = {}) =>
  JSON.stringify({ subject: SUBJECT, type: 'user', enabled: true, roles: ['a', 'b'], ...members })

test('principal list: a table with its roles, or the answer', async () => {
  const { api, windlass } = await cliFixture()
  const answer = `[${principal({ display_name: '\u001b[2J', external_issuer: 'internal' })}]`
  api.answers.set('GET /admin/principals?type=user', { body: answer })
  const { out } = await windlass('principal', 'list', '--type', 'user')
  expect(out).toContain('user  true     a, b   \\u001b[2J')
  expect((await windlass('principal', 'list', '--type=user', '--json')).out).toBe(`${answer}\n`)
})

test('principal create, update and show: the subject of an issuer is sent as given', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('POST /admin/principals', { status: 201, body: principal() })
  const issuer = 'https://idp.example'
  const query = `?${new URLSearchParams({ issuer })}`
  api.answers.set(`PATCH ${ROUTE}${query}`, { body: principal() })
  api.answers.set(`GET ${ROUTE}${query}`, { body: principal() })
  const create = ['principal', 'create', SUBJECT, '--type', 'user', '--roles', 'a, b']
  await windlass(...create, '--issuer', issuer, '--display-name', 'U')
  await windlass('principal', 'create', 'ci')
  await windlass('principal', 'update', SUBJECT, '--issuer', issuer, '--display-name', 'V')
  expect((await windlass('principal', 'show', SUBJECT, '--issuer', issuer)).out).toBe(
    `${principal()}\n`,
  )
  expect(api.seen.map(({ body }) => body && JSON.parse(body))).toEqual([
    {
      ...{ type: 'user', subject: SUBJECT, external_issuer: issuer },
      ...{ display_name: 'U', roles: ['a', 'b'] },
    },
    { type: 'service_account', subject: 'ci' },
    { display_name: 'V' },
    '',
  ])
})

test('principal disable, enable, delete and roles: one sentence each', async () => {
  const { api, windlass } = await cliFixture()
  const done = (members: object) => ({ body: JSON.stringify({ status: 'success', ...members }) })
  api.answers.set(`POST ${ROUTE}/disable`, done({ subject: SUBJECT, enabled: false }))
  api.answers.set(`POST ${ROUTE}/enable`, done({ subject: SUBJECT, enabled: true }))
  api.answers.set(`DELETE ${ROUTE}?force=true`, done({ message: 'gone' }))
  api.answers.set(`POST ${ROUTE}/roles`, done({ role: 'ops' }))
  api.answers.set(`DELETE ${ROUTE}/roles/ops`, done({ role: 'ops' }))
  const sentences = [
    [['disable', SUBJECT], `Principal '${SUBJECT}' disabled`],
    [['enable', SUBJECT], `Principal '${SUBJECT}' enabled`],
    [['delete', SUBJECT, '--force'], 'gone'],
    [['grant-role', SUBJECT, 'ops'], `Role 'ops' granted to '${SUBJECT}'`],
    [['revoke-role', SUBJECT, 'ops'], `Role 'ops' revoked from '${SUBJECT}'`],
  ] as const
  for (const [argv, sentence] of sentences)
    expect(await windlass('principal', ...argv)).toEqual({
      ...{ status: 0, out: `${sentence}\n`, err: '' },
    })
  expect(api.seen[3]?.body).toBe('{"role":"ops"}')
})

test('key create: prints the key alone, and says on standard error that it is shown once', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('POST /admin/principals/ci/keys', { status: 201, body: '{"key":"wk_1.x"}' })
  const limits = ['--permissions', 'workflow:team:*,worker:*:read', '--networks', '10.0.0.0/8']
  expect(await windlass('key', 'create', 'ci', 'deploy', '--days', '090', ...limits)).toEqual({
    status: 0,
    out: 'wk_1.x\n',
    err: 'store the key now: the server keeps only its hash and cannot show it again\n',
  })
  expect(JSON.parse(api.seen[0]?.body ?? '')).toEqual({
    ...{ name: 'deploy', expires_in_days: 90, networks: ['10.0.0.0/8'] },
    permissions: ['workflow:team:*', 'worker:*:read'],
  })
  const { out, err } = await windlass('key', 'create', 'ci', 'deploy', '--days', '0', '--json')
  expect([out, err, api.seen[1]?.body]).toEqual([
    '{"key":"wk_1.x"}\n',
    '',
    '{"name":"deploy","expires_in_days":0}',
  ])
})

test('key list and revoke: never a key, only its prefix and times', async () => {
  const { api, windlass } = await cliFixture()
  const key = { name: 'deploy', prefix: 'wk_1', expires_at: null, last_used_at: 't' }
  api.answers.set('GET /admin/principals/ci/keys', { body: JSON.stringify([key]) })
  expect((await windlass('key', 'list', 'ci')).out).toMatch(/ {2}deploy +wk_1 +t\n$/)
  const message = "Key 'deploy' revoked"
  api.answers.set('DELETE /admin/principals/ci/keys/deploy', { body: JSON.stringify({ message }) })
  expect((await windlass('key', 'revoke', 'ci', 'deploy')).out).toBe(`${message}\n`)
})

test('role commands: permissions between commas, effects as a table', async () => {
  const { api, windlass } = await cliFixture()
  const role = '{"name":"ops","permissions":["a:b","c:*"],"built_in":false}'
  api.answers.set('GET /admin/roles', { body: `[${role}]` })
  api.answers.set('POST /admin/roles', { body: role })
  api.answers.set('POST /admin/roles/ops/clone', { body: role })
  api.answers.set('PATCH /admin/roles/ops', { body: role })
  api.answers.set('DELETE /admin/roles/ops', { body: '{"message":"gone"}' })
  const affected = { subject: 'ci', type: 'service_account', enabled: true }
  const effect = { granted: [], taken: ['c:*'] }
  const simulated = { holders: 2, principals: [{ ...affected, ...effect }], ...effect }
  api.answers.set('POST /admin/roles/ops/simulate', { body: JSON.stringify(simulated) })
  expect((await windlass('role', 'list')).out).toMatch(/ops +false +a:b, c:\*\n/)
  await windlass('role', 'create', 'ops', '--permissions', 'a:b,c:*')
  await windlass('role', 'clone', 'ops', 'more')
  const change = ['--add', 'x:y', '--remove', 'c:*', '--if-revision', 'ab12']
  await windlass('role', 'update', 'ops', ...change)
  expect(api.seen.at(-1)?.headers['if-match']).toBe('"ab12"')
  const { out } = await windlass('role', 'simulate', 'ops', '--delete')
  expect(out).toMatch(/^principals with the role: 2; .*\n.*\n +ci +service_account +true +c:\*\n$/)
  expect((await windlass('role', 'delete', 'ops')).out).toBe('gone\n')
  expect(api.seen.slice(1).map(({ body }) => body)).toEqual([
    '{"name":"ops","permissions":["a:b","c:*"]}',
    '{"new_name":"more"}',
    '{"add_permissions":["x:y"],"remove_permissions":["c:*"]}',
    '{"delete":true}',
    '',
  ])
})

test('me: the principal, its roles, and its permissions by namespace', async () => {
  const { api, windlass } = await cliFixture()
  const answer = {
    ...{ subject: 'ci', issuer: 'internal', roles: ['team'], server_version: '1.2.3' },
    permissions: ['admin:audit:read', 'schedule:team:*', 'workflow:team:*'],
  }
  api.answers.set('GET /me', { body: JSON.stringify(answer) })
  expect((await windlass('me')).out).toBe(`subject  ci
issuer   internal
roles    team
server   windlass 1.2.3

  NAMESPACE  PERMISSION
             admin:audit:read
  team       schedule:team:*
  team       workflow:team:*
`)
  expect((await windlass('me', '--json')).out).toBe(`${JSON.stringify(answer)}\n`)
})

test('auth check: rows of the caller, status 1 if one is missing', async () => {
  const { api, windlass } = await cliFixture()
  const required = Array.from({ length: 250 }, (_, i) => `workflow:team:w:task:${i}:execute`)
  const listed = JSON.stringify([...required, 'admin:secrets:read'])
  api.answers.set('GET /auth/permissions?workflow=team%2Fw', { body: listed })
  api.answers.set('POST /auth/check', ({ body }) => {
    const { permissions } = JSON.parse(body) as { permissions: string[] }
    expect(permissions.length).toBeLessThanOrEqual(200)
    const results = permissions.map((permission) => ({ permission, allowed: permission !== 'x:y' }))
    return { body: JSON.stringify({ results }) }
  })
  const all = await windlass('auth', 'check', '--workflow', 'team/w')
  expect([all.status, all.out.trim().split('\n').length]).toEqual([0, 251])
  const { status, out } = await windlass('auth', 'check', 'a:b, x:y')
  expect([status, out]).toEqual([1, '  PERMISSION  ALLOWED\n  a:b         yes\n  x:y         no\n'])
  expect(await windlass('auth', 'check')).toMatchObject({ status: 2 })
})

test('auth check of a principal: decided by its roles, nothing while it is disabled', async () => {
  const { api, windlass } = await cliFixture()
  const roles = [
    { name: 'a', permissions: ['workflow:team:*'] },
    { name: 'other', permissions: ['*'] },
  ]
  api.answers.set('GET /admin/roles', { body: JSON.stringify(roles) })
  api.answers.set('GET /admin/principals/ci', { body: '{"enabled":true,"roles":["a"]}' })
  const check = ['auth', 'check', 'workflow:team:w:run,worker:w:read', '--principal', 'ci']
  expect(await windlass(...check, '--json')).toEqual({
    status: 1,
    out: '{"results":[{"permission":"workflow:team:w:run","allowed":true},{"permission":"worker:w:read","allowed":false}]}\n',
    err: '',
  })
  api.answers.set('GET /admin/principals/ci', { body: '{"enabled":false,"roles":["a"]}' })
  const { out, err } = await windlass(...check)
  expect(out).not.toContain('yes')
  expect(err).toBe('the principal is disabled, so that it may do nothing\n')
})

test('auth test-token: the token comes from standard input or a file, never from an argument', async () => {
  const { api, windlass } = await cliFixture()
  const refused = await windlass('auth', 'test-token', 'wk_secret')
  expect(refused.status).toBe(2)
  expect(refused.err).toContain('use @file or standard input')
  expect(refused.err).not.toContain('wk_secret')
  expect(await windlass('auth', 'test-token', '@/dev/null')).toMatchObject({ status: 2 })
  expect(api.seen).toEqual([])
  api.answers.set('POST /auth/test-token', { body: '{"valid":false}' })
  const file = await writeSource('wk_secret\n')
  expect(await windlass('auth', 'test-token', `@${file}`)).toEqual({
    ...{ status: 1, out: '{"valid":false}\n', err: '' },
  })
  expect(api.seen[0]?.body).toBe('{"token":"wk_secret"}')
})

test('session list and revoke: the sessions of the caller, control characters escaped', async () => {
  const { api, windlass } = await cliFixture()
  const id = 'x'.repeat(43)
  const session = { id, created_at: 'c', last_used_at: 'u', user_agent: 'a\u001b', current: false }
  api.answers.set('GET /console/sessions', { body: JSON.stringify({ sessions: [session] }) })
  expect((await windlass('session', 'list')).out).toMatch(/x{43} +c +u +false +a\\u001b\n$/)
  api.answers.set(`DELETE /console/sessions/${id}`, { body: '{"message":"Session ended"}' })
  expect((await windlass('session', 'revoke', id)).out).toBe('Session ended\n')
  expect((await windlass('session', 'revoke', '..')).status).toBe(2)
})

test('a change that names none, a name that cannot be one: exit status 2, nothing is sent', async () => {
  const { api, windlass } = await cliFixture()
  const wrong = [
    ['principal', 'update', 'ci'],
    ['principal', 'show', '..'],
    ['principal', 'create', 'a\u001b'],
    ['principal', 'grant-role', 'ci', 'a/b'],
    ['key', 'create', 'ci', 'a b'],
    ['key', 'create', 'ci', 'k', '--days', '-1'],
    ['key', 'create', 'ci', 'k', '--days', '1.5'],
    ['role', 'update', 'ops'],
    ['role', 'simulate', 'ops'],
    ['role', 'create', ''],
  ]
  for (const argv of wrong) expect((await windlass(...argv)).status, argv.join(' ')).toBe(2)
  expect(api.seen).toEqual([])
})

test('a list without entries: says so on standard error, and nothing on standard output', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('GET /admin/principals', { body: '[]' })
  expect(await windlass('principal', 'list')).toEqual({ status: 0, out: '', err: 'none found\n' })
  expect(await windlass('principal', 'list', '--json')).toEqual({
    ...{ status: 0, out: '[]\n', err: '' },
  })
})
