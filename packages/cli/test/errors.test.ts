import { closedUrl } from '@windlass/testkit/api-fake'
import { expect, test } from 'vitest'
import { cliFixture } from './cli-fixture.ts'

test.each([
  [
    401,
    '{"detail":"Authorization token required"}',
    'the server refused the request (401): Authorization token required; set SVC_AUTH_TOKEN to a valid API key or token',
  ],
  [
    403,
    '{"detail":{"message":"Authorization denied","missing_permissions":["workflow:a:b:run"]}}',
    'the server refused the request (403): Authorization denied: missing workflow:a:b:run',
  ],
  [
    422,
    '{"detail":[{"loc":["query","limit"],"msg":"Input should be a valid integer","type":"int"}]}',
    'the server refused the request (422): query.limit: Input should be a valid integer',
  ],
  [
    503,
    '{"detail":"The catalog is unavailable."}',
    'the server failed the request (503): The catalog is unavailable.; retry later',
  ],
])('status %i: one sentence with the reason and the next step', async (status, body, expected) => {
  const { api, windlass } = await cliFixture()
  api.answers.set('GET /workflows', { status, body })
  const err = `windlass: ${expected}\n`
  expect(await windlass('workflow', 'list')).toEqual({ status: 1, out: '', err })
})

test('an error page of another server: its status, without the page', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('GET /workflows', { status: 502, body: '<html>Bad Gateway</html>' })
  const { err } = await windlass('workflow', 'list')
  expect(err).toBe(
    `windlass: ${api.url} answered with status 502 and no reason; check that it is the URL of a Windlass server\n`,
  )
})

test('an answer that is not JSON: says so', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('GET /workflows', { body: '<html>' })
  const { status, err } = await windlass('workflow', 'list')
  expect(status).toBe(1)
  expect(err).toBe(
    `windlass: the call of ${api.url} failed: the answer is not JSON: unexpected character at offset 0\n`,
  )
})

test('no server: names the URL and the options', async () => {
  const { windlass } = await cliFixture()
  const url = await closedUrl()
  const { status, err } = await windlass('workflow', 'list', '--server-url', url)
  expect(status).toBe(1)
  expect(err).toContain(`windlass: cannot connect to ${url} (`)
  expect(err).toMatch(/\); start the server, or name another one with --server-url\n$/)
})

test('a file that cannot be read: named with the reason', async () => {
  const { windlass } = await cliFixture()
  expect(await windlass('workflow', 'upload', '/nonexistent.py')).toMatchObject({
    status: 1,
    err: expect.stringContaining('cannot read /nonexistent.py'),
  })
})

test('help of a command or a group: the same as its --help', async () => {
  const { windlass } = await cliFixture()
  for (const words of [['workflow', 'run'], ['workflow']])
    expect(await windlass('help', ...words)).toEqual(await windlass(...words, '--help'))
  expect((await windlass('help', 'fly')).status).toBe(2)
})
