import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuthority } from '@windlass/testkit/certificates'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, test } from 'vitest'
import { cliFixture } from './cli-fixture.ts'

const SECRET = '4f1c9a07d2e8b6533c0a7e91f5d8426b'

function configFile(content: string): string {
  const path = join(temporaryFolder('config'), 'svc.toml')
  writeFileSync(path, content)
  return path
}

test('config check: each setting with its value and its origin', async () => {
  const SVC_CONFIG = configFile(
    '[svc.server]\nport = 8100\n[svc.workers]\nheartbeat_interval = 5\n',
  )
  const env = { SVC_CONFIG, SVC_WORKERS__HEARTBEAT_INTERVAL: '7' }
  const { windlass } = await cliFixture({ env })
  const { status, out, err } = await windlass('config', 'check')
  expect({ status, err }).toEqual({ status: 0, err: 'a service accepts these settings\n' })
  const lines = out.split('\n')
  expect(lines).toContain(`server.port = 8100  # ${SVC_CONFIG}`)
  expect(lines).toContain('workers.heartbeat_interval = 7  # SVC_WORKERS__HEARTBEAT_INTERVAL')
  expect(lines).toContain('mcp.port = 8080  # default')
  const changed = await windlass('config', 'check', '--changed')
  expect(changed.out).not.toContain('# default')
  expect(changed.out).toContain('server.port = 8100')
})

test('config check with secrets: none is printed, and URLs have no credentials', async () => {
  const password = 'a-password-of-the-database'
  const { windlass } = await cliFixture({
    env: {
      SVC_SECURITY__EXECUTION_TOKEN_SECRET: SECRET,
      SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: SECRET,
      SVC_SECURITY__ENCRYPTION__PREVIOUS_KEYS: SECRET,
      SVC_WORKERS__BOOTSTRAP_TOKEN: SECRET,
      SVC_RPC__SECRET: SECRET,
      SVC_RPC__KEYS: `gateway:executions:${SECRET}`,
      SVC_POSTGRES__URL: `postgres://role:${password}@db:5432/windlass?password=${password}`,
      SVC_REDIS__URL: `redis://:${password}@cache:6379`,
    },
  })
  const { out, err, status } = await windlass('config', 'check')
  expect(status).toBe(0)
  expect(out + err).not.toContain(SECRET)
  expect(out + err).not.toContain(password)
  expect(out).toContain('postgres.url = "postgres://db:5432/windlass"  # SVC_POSTGRES__URL')
  expect(out).toContain('rpc.secret = (hidden)  # SVC_RPC__SECRET')
  expect(out).toContain('security.execution_token_secret = (hidden)')
})

test('config check with several hosts of PostgreSQL: they are printed without credentials', async () => {
  const SVC_POSTGRES__URL = 'postgres://role:s3cret@a:5432,b:5432/windlass?password=s3cret'
  const { windlass } = await cliFixture({ env: { SVC_POSTGRES__URL } })
  const { out, err } = await windlass('config', 'check')
  expect(out + err).not.toContain('s3cret')
  expect(out).toContain('postgres.url = "postgres://a:5432,b:5432/windlass"')
})

test.each([
  [{ SVC_SERVER__PORT: 'http' }, 'SVC_SERVER__PORT is "http"; expected a port from 0 to 65535'],
  [{ SVC_SERVER__PROT: '1' }, '[svc.server] has no key prot'],
  [{ SVC_SERVER__HOST: '0.0.0.0' }, '[svc.server].host is "0.0.0.0" and authentication is off'],
  [{ SVC_MCP__HOST: '0.0.0.0' }, '[svc.mcp].host is "0.0.0.0" and authentication is off'],
  [{ SVC_SECURITY__AUTH__ENABLED: 'true' }, '[svc.security].execution_token_secret'],
  [{ SVC_SERVER__TLS_CERT: '/absent.pem' }, '[svc.server] needs both tls_cert and tls_key'],
  [{ SVC_CONFIG: '/absent/svc.toml' }, 'cannot read /absent/svc.toml'],
])('config check with %j: fails with what is wrong', async (env, message) => {
  const { windlass } = await cliFixture({ env: env as Record<string, string> })
  const { status, err } = await windlass('config', 'check')
  expect(status).toBe(1)
  expect(err).toContain(message)
})

const PG = 'postgres://db:5432/windlass'
const NO_FILE = 'ENOENT: no such file or directory'

test.each([
  ['SVC_SERVER__CLIENT_CA', '[svc.server].client_ca'],
  ['SVC_MCP__TLS_KEY', '[svc.mcp].tls_key'],
  ['SVC_RPC__TLS_CA', '[svc.rpc].tls_ca'],
  ['SVC_NATS__TLS_CA', '[svc.nats].tls_ca'],
  ['SVC_REDIS__TLS_CERT', '[svc.redis].tls_cert'],
])('config check with a missing file in %s: names the setting and the file', async (name, key) => {
  const { windlass } = await cliFixture({ env: { [name]: '/absent.pem' } })
  const { status, err } = await windlass('config', 'check')
  expect(status).toBe(1)
  expect(err).toContain(`${key}: cannot read /absent.pem: ${NO_FILE}\n`)
})

test.each([
  ['url', 'sslrootcert'],
  ['url', 'sslkey'],
  ['admin_url', 'sslrootcert'],
])('config check with a PostgreSQL %s whose %s is missing: names both', async (key, parameter) => {
  const name = `SVC_POSTGRES__${key.toUpperCase()}`
  const url = `${PG}?sslmode=verify-full&${parameter}=/absent.pem`
  const { windlass } = await cliFixture({ env: { [name]: url } })
  const { status, err } = await windlass('config', 'check')
  expect(status).toBe(1)
  expect(err).toContain(`[svc.postgres].${key}, ${parameter}: cannot read /absent.pem: ${NO_FILE}`)
})

test('config check with the files of all connections: accepts them, and refuses the key of another one', async () => {
  const { caFile, issue } = await createAuthority()
  const { certFile, keyFile } = await issue('client')
  const store = (name: string) => ({
    [`SVC_${name}__TLS_CA`]: caFile,
    [`SVC_${name}__TLS_CERT`]: certFile,
    [`SVC_${name}__TLS_KEY`]: keyFile,
  })
  const env = {
    ...store('RPC'),
    ...store('NATS'),
    ...store('REDIS'),
    SVC_POSTGRES__URL: `${PG}?sslrootcert=${caFile}&sslcert=${certFile}&sslkey=${keyFile}`,
  }
  const accepted = await (await cliFixture({ env })).windlass('config', 'check')
  expect(accepted).toMatchObject({ status: 0, err: 'a service accepts these settings\n' })
  const other = await issue('other')
  const wrong = await cliFixture({ env: { ...env, SVC_NATS__TLS_KEY: other.keyFile } })
  const refused = await wrong.windlass('config', 'check')
  expect(refused.status).toBe(1)
  expect(refused.err).toContain('[svc.nats]: ')
})

/** An interpreter that prints a line to stderr and exits with this status. */
function fakePython(status: number, line = ''): string {
  const path = join(temporaryFolder('config'), 'python')
  writeFileSync(path, `#!/bin/sh\necho "${line}" >&2\nexit ${status}\n`)
  chmodSync(path, 0o755)
  return path
}

const WORKER = { SVC_WORKER__CHILDREN: 'many' }
const MISTAKE = "SVC_WORKER__CHILDREN: 'many' is not an integer of 0 or more"

test.each([
  { does: 'accepts them', exit: 0, line: '', status: 0, text: 'a worker accepts its settings\n' },
  {
    does: 'refuses them',
    exit: 2,
    line: `windlass worker: ${MISTAKE}`,
    status: 1,
    text: `worker: ${MISTAKE}\n`,
  },
  {
    does: 'is not installed',
    exit: 1,
    line: 'No module named windlass',
    status: 0,
    text: 'settings are not checked: No module named',
  },
  {
    does: 'is an earlier one',
    exit: 2,
    line: "windlass worker: invalid choice: 'check'",
    status: 0,
    text: 'are not checked: ',
  },
])(
  'config check with settings of a worker that $does: says so',
  async ({ exit, line, status, text }) => {
    const env = { ...WORKER, WINDLASS_PYTHON: fakePython(exit, line) }
    const { windlass } = await cliFixture({ env })
    const result = await windlass('config', 'check')
    expect(result.status).toBe(status)
    expect(result.err).toContain(text)
  },
)

test('config check without settings of workers: does not start Python', async () => {
  const { windlass } = await cliFixture({ env: { WINDLASS_PYTHON: fakePython(2, 'started') } })
  expect((await windlass('config', 'check')).err).toBe('a service accepts these settings\n')
})

test('config check with [svc.worker] in the file: a worker checks it', async () => {
  const SVC_CONFIG = configFile('[svc.worker]\nchildren = 2\n')
  const env = { SVC_CONFIG, WINDLASS_PYTHON: fakePython(0) }
  const { windlass } = await cliFixture({ env })
  expect((await windlass('config', 'check')).err).toContain('a worker accepts its settings')
})
