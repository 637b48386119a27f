import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
