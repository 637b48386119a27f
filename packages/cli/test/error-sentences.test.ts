import { expect, test } from 'vitest'
import { commands } from '../src/commands.ts'
import { cliFixture, writeSource } from './cli-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'

/** A valid argument for each name that commands use. */
const ARGUMENTS: Record<string, string> = {
  workflow: 'default/report',
  a: '1',
  b: '2',
  execution_id: ID,
  other_execution_id: ID,
  after_seq: '3',
  task_call_id: 'send/1',
  action: 'cancel',
  id: ID,
  screen: 'executions',
  name: 'nightly',
  schedule: 'nightly',
  dir: '/nonexistent/keys',
  config: '{"type":"interval","interval_seconds":60}',
  'value?': 'v',
  subject: 'ci',
  role: 'ops',
  new_name: 'more',
  session_id: 'x'.repeat(43),
  'permissions?': 'admin:*',
  shell: 'bash',
  checkpoint: `1:${'0'.repeat(64)}`,
}

const calling = commands.filter(
  ({ words, options }) => options?.['server-url'] !== undefined && words !== 'mcp',
)

/** Options without which a command does nothing. */
const OPTIONS: Record<string, string[]> = {
  'workflow delete': ['--all'],
  'execution step': ['--output'],
  'principal update': ['--display-name', 'x'],
  'role update': ['--add', 'x:y'],
  'role simulate': ['--delete'],
  'schedule update': ['--overlap', 'skip'],
}

/** Options that replace the answer of the server, and commands without one answer. */
const WITHOUT_JSON = [
  'secret set',
  'config set',
  'secrets rotate-key',
  'audit verify',
  'audit export',
]

async function argumentsOf(words: string, names: readonly string[]): Promise<string[]> {
  if (words === 'auth test-token') return [`@${await writeSource('wk_1.x')}`]
  if (words === 'audit export') return [`${await writeSource('')}.ndjson`]
  const given = names.map(async (name) =>
    name === 'file' ? await writeSource('x = 1\n') : ARGUMENTS[name],
  )
  const texts = (await Promise.all(given)).filter((argument) => argument !== undefined)
  return [...texts, ...(OPTIONS[words] ?? [])]
}

/** Error bodies of the API in each of their forms, and bodies of other programs. */
const REFUSALS: [status: number, body: string, sentence: string][] = [
  [
    403,
    '{"detail":"Permission denied"}',
    'the server refused the request (403): Permission denied',
  ],
  [
    403,
    '{"detail":{"message":"Authorization denied","missing_permissions":["a:b"]}}',
    'the server refused the request (403): Authorization denied: missing a:b',
  ],
  [
    422,
    '{"detail":[{"loc":["body","n",0],"msg":"must be integer","type":"type"}]}',
    'the server refused the request (422): body.n.0: must be integer',
  ],
  [
    500,
    '{"detail":"Internal server error"}',
    'the server failed the request (500): Internal server error',
  ],
  [409, '{"message":"already decided"}', 'answered with status 409 and no reason'],
  [502, '<html>', 'answered with status 502 and no reason'],
  [400, '{"detail":{"unknown":{"a":1}}}', 'answered with status 400 and no reason'],
]

test.each(calling.map((command) => [command.words, command] as const))(
  '%s: every refusal of the server is one sentence without JSON',
  async (words, { args }) => {
    const { api, windlass } = await cliFixture()
    const given = await argumentsOf(words, args)
    for (const [status, body, sentence] of REFUSALS) {
      api.refuseAll({ status, body })
      const result = await windlass(...words.split(' '), ...given)
      expect(result).toMatchObject({ status: 1, out: '' })
      expect(result.err).toMatch(/^windlass: [^\n{}]+\n$/)
      expect(result.err).toContain(sentence)
    }
    expect(api.seen.length).toBeGreaterThanOrEqual(REFUSALS.length)
  },
)

test.each(
  commands
    .filter(({ isPassThrough, words }) => !isPassThrough && words !== 'completion')
    .map(({ words, args }) => [words, args] as const),
)('%s with a mistake in the configuration: one line, no stack', async (words, args) => {
  const { windlass } = await cliFixture({ env: { SVC_SERVER__PORT: 'http' } })
  const { status, err } = await windlass(...words.split(' '), ...(await argumentsOf(words, args)))
  expect(status).toBe(1)
  expect(err).toBe(
    'windlass: invalid configuration: SVC_SERVER__PORT is "http"; expected a port from 0 to 65535\n',
  )
})

test.each(['wk_canary\nx', 'wk_canary’', 'Bearer wk_canary'])(
  'a token that no header can hold, %j: named without its text, nothing is sent',
  async (token) => {
    const { api, windlass } = await cliFixture({ env: { SVC_AUTH_TOKEN: token } })
    const { status, err } = await windlass('workflow', 'list')
    expect(status).toBe(1)
    expect(err).toBe(
      'windlass: SVC_AUTH_TOKEN has a character that tokens do not have; set it to the key or token alone\n',
    )
    expect(api.seen).toEqual([])
  },
)

test('a server URL with a password: refused without its text', async () => {
  const { windlass } = await cliFixture()
  const url = 'http://user:canary@127.0.0.1:1'
  expect(await windlass('workflow', 'list', '--server-url', url)).toEqual({
    status: 2,
    out: '',
    err: 'windlass: the URL of the server must not contain a user name or password; set SVC_AUTH_TOKEN instead; see windlass workflow list --help\n',
  })
})

test('an answer that is not the list that the API promises: an error, not an empty list', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('GET /workflows', { body: '{}' })
  expect(await windlass('workflow', 'list')).toMatchObject({
    ...{ status: 1, out: '', err: "windlass: the server's answer is not a list\n" },
  })
})

test('a server URL that is none: says so', async () => {
  const { windlass } = await cliFixture()
  for (const url of ['nonsense', 'ftp://x', '']) {
    const { status, err } = await windlass('workflow', 'list', '--server-url', url)
    expect(status).toBe(2)
    expect(err).toBe(
      `windlass: '${url}' is not the URL of a server; use http://HOST:PORT or https://HOST; see windlass workflow list --help\n`,
    )
  }
})

test('every command that calls the server: has --json, --server-url, --ca-file and arguments in its help', async () => {
  const { windlass } = await cliFixture()
  for (const { words, args, options } of calling) {
    if (!WITHOUT_JSON.includes(words)) expect(options?.json?.about, words).toContain('answer')
    expect(options?.['ca-file'], words).toBeDefined()
    const { status, out } = await windlass(...words.split(' '), '--help')
    expect(status).toBe(0)
    for (const name of args) expect(out).toContain(name.replace(/\?$/, '').toUpperCase())
  }
})
