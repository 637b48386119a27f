import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readComposeServices } from '../../scripts/system/compose-environment.ts'

const SETTINGS = new URL('../../scripts/system/settings.ts', import.meta.url).href
const TOKEN_SECRET = '[svc.security].execution_token_secret'
const ENCRYPTION_KEY = '[svc.security.encryption].encryption_key'

const STRONG = '4f1c9a07d2e8b6533c0a7e91f5d8426b'

const BLANK = {
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: ' ',
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: '\t',
}

/** Each service checks the secret that it uses; no service gets both. */
const NEEDS = { identity: ENCRYPTION_KEY, gateway: TOKEN_SECRET, executions: TOKEN_SECRET }

/** Missing settings for `npm start`, which checks both, and the names in its error. */
const START_LACKS: [what: string, env: Record<string, string>, named: string][] = [
  ['both', {}, `${TOKEN_SECRET} and ${ENCRYPTION_KEY}`],
  ['the token secret', { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: STRONG }, TOKEN_SECRET],
  ['the encryption key', { SVC_SECURITY__EXECUTION_TOKEN_SECRET: STRONG }, ENCRYPTION_KEY],
  ['both, set to blanks', BLANK, `${TOKEN_SECRET} and ${ENCRYPTION_KEY}`],
]

const OIDC = 'SVC_SECURITY__AUTH__OIDC__'
const SET = {
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: STRONG,
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: STRONG,
  [`${OIDC}ENABLED`]: 'true',
}

/** Issuers that a gateway refuses at its start. */
const ISSUERS = [
  'http://169.254.169.254/',
  'http://elsewhere.example/',
  'http://localhost.example/',
  'gopher://idp.example/',
  'file:///etc/passwd',
  'idp.example',
  '',
]

const cases = Object.entries(NEEDS).flatMap(([service, named]) =>
  [{}, BLANK].map((env) => [service, env, named] as const),
)

test.each(cases)(
  'authentication on: %s with %j: does not start and names the secret that it uses',
  async (service, env, named) =>
    expect(await refusalOf(service, env)).toContain(
      `authentication is on, which needs ${named} to be set`,
    ),
)

test.each(START_LACKS)(
  'authentication on: npm start without %s: refuses and names the missing setting',
  async (_, env, named) => {
    const { readSettings } = (await import(SETTINGS)) as { readSettings(): Promise<unknown> }
    vi.stubEnv('SVC_CONFIG', '/dev/null')
    vi.stubEnv('SVC_SECURITY__AUTH__ENABLED', 'true')
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    await expect(readSettings()).rejects.toThrow(
      `authentication is on, which needs ${named} to be set`,
    )
  },
)

/** Guessable secrets, each with the service that uses it. */
const WEAK: [service: string, env: Record<string, string>, named: string][] = [
  ['gateway', { SVC_SECURITY__EXECUTION_TOKEN_SECRET: 'x' }, TOKEN_SECRET],
  ['executions', { SVC_SECURITY__EXECUTION_TOKEN_SECRET: 'ab'.repeat(16) }, TOKEN_SECRET],
  ['identity', { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'x' }, ENCRYPTION_KEY],
  ['identity', { SVC_WORKERS__BOOTSTRAP_TOKEN: 'x' }, '[svc.workers].bootstrap_token'],
  ['scheduler', { SVC_RPC__SECRET: 'sixteen letters!' }, '[svc.rpc].secret'],
]

test.each(WEAK)(
  'authentication on: %s with the guessable secret %j: does not start and names the remedy',
  async (service, env, named) => {
    const refusal = await refusalOf(service, { ...SET, ...env })
    expect(refusal).toContain(`${named} `)
    expect(refusal).toContain('openssl rand -hex 32')
  },
)

test.each(ISSUERS)('N031: OIDC issuer %j: the gateway does not start', async (issuer) => {
  const env = { ...SET, [`${OIDC}ISSUER`]: issuer, [`${OIDC}AUDIENCE`]: 'windlass' }
  expect(await refusalOf('gateway', env)).toContain('[svc.security.auth.oidc]')
})

test.each([
  ['gateway', 'SVC_SERVER__HOST', '[svc.server].host'],
  ['mcp', 'SVC_MCP__HOST', '[svc.mcp].host'],
])(
  '%s beyond loopback with authentication off: refuses and says what to do',
  async (service, variable, setting) => {
    const env = { SVC_SECURITY__AUTH__ENABLED: 'false', [variable]: '0.0.0.0' }
    const refusal = await refusalOf(service, env)
    expect(refusal).toContain(`${setting} is`)
    expect(refusal).toContain('set [svc.server].allow_anonymous_network = true')
  },
)

const SERVICES = ['gateway', 'identity', 'catalog', 'executions', 'dispatcher', 'scheduler', 'mcp']

test.each(SERVICES)(
  '%s with an unknown key and a wrong value: one line names both, without a stack',
  async (service) => {
    const refusal = await refusalOf(service, { SVC_NATS__ULR: 'x', SVC_SERVER__PORT: 'http' })
    const [fatal, ...more] = refusal.split('\n').filter((line) => line.includes('"level":"fatal"'))
    expect(more).toEqual([])
    expect(JSON.parse(fatal ?? '')).toMatchObject({
      msg: expect.stringMatching(
        /^failed to start: invalid configuration: (?=.*SVC_NATS__ULR: \[svc\.nats\] has no key ulr; expected one of url, prefix)(?=.*SVC_SERVER__PORT is "http"; expected a port)/,
      ),
    })
    expect(refusal).not.toContain('stack')
    expect(refusal).not.toContain(' at ')
  },
)

const composed = readComposeServices()

test.each(composed)(
  '$name of compose.yml with a wrong value: does not start, and one line names the variable',
  async ({ program, env }) => {
    const refusal = await refusalOf(program, { ...env, SVC_ADMIN__DRAIN_DELAY: 'soon' })
    expect(messagesOf(refusal)).toEqual([
      expect.stringMatching(/^failed to start: .*: SVC_ADMIN__DRAIN_DELAY is "soon"; expected /),
    ])
  },
)

test.each([
  ['SVC_NATS__URL', 'http://nats:4222', '[svc.nats].url must begin with nats:// or tls://'],
  ['SVC_REDIS__URL', 'http://redis:6379', '[svc.redis].url must begin with redis:// or rediss://'],
  ['SVC_RPC__KEYS', 'gateway:identity', '[svc.rpc].keys'],
])(
  'the gateway of compose.yml with %s=%s: does not start, and one line names the setting',
  async (variable, value, named) => {
    const { env } = composed.find(({ program }) => program === 'gateway') ?? { env: {} }
    const [message, ...more] = messagesOf(await refusalOf('gateway', { ...env, [variable]: value }))
    expect(message).toContain(named)
    expect(more).toEqual([])
  },
)

/** Messages of the fatal lines of a log. */
const messagesOf = (output: string): string[] =>
  output
    .split('\n')
    .filter((line) => line.includes('"level":"fatal"'))
    .map((line) => JSON.parse(line).msg)

/** Starts a service that must not start. Returns its output. */
async function refusalOf(service: string, env: Record<string, string>): Promise<string> {
  const main = fileURLToPath(new URL(`../../services/${service}/dist/main.js`, import.meta.url))
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH ?? '',
      SVC_CONFIG: '/dev/null',
      SVC_SECURITY__AUTH__ENABLED: 'true',
      ...env,
    },
  })
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  expect(status).not.toBe(0)
  expect(out).not.toContain('"msg":"started"')
  return `${out}${err}`
}
