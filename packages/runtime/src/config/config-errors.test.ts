import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, test } from 'vitest'
import { ConfigError } from './config-error.ts'
import { loadSettings } from './load-settings.ts'

function file(content: string): string {
  const path = join(temporaryFolder('settings'), 'svc.toml')
  writeFileSync(path, content)
  return path
}

const CONFIGURED = { SVC_CONFIG: '/dev/null' }

test.each<[string, string, string]>([
  ['SVC_SERVER__PORT', 'abc', 'SVC_SERVER__PORT is "abc"; expected a port from 0 to 65535'],
  ['SVC_SERVER__PORT', '65536', 'SVC_SERVER__PORT is "65536"; expected a port from 0 to 65535'],
  [
    'SVC_SECURITY__AUTH__ENABLED',
    'maybe',
    'SVC_SECURITY__AUTH__ENABLED is "maybe"; expected true or false',
  ],
  [
    'MAX_WORKFLOW_UPLOAD_BYTES',
    '1 MiB',
    'MAX_WORKFLOW_UPLOAD_BYTES is "1 MiB"; expected a whole number from 0',
  ],
  [
    'SVC_WORKERS__REGISTER_RATE_LIMIT',
    'often',
    'SVC_WORKERS__REGISTER_RATE_LIMIT is "often"; it must be like 30/minute, or empty for off',
  ],
  [
    'SVC_EXECUTIONS__RESUME_VERSION',
    'old',
    'SVC_EXECUTIONS__RESUME_VERSION is "old"; expected one of "newest"|"pinned"',
  ],
  [
    'SVC_MCP__ALLOWED_HOSTS',
    'a, *',
    'SVC_MCP__ALLOWED_HOSTS is "a, *"; it must be a host name with an optional port, without a scheme',
  ],
  ['SVC_SERVER', 'x', 'SVC_SERVER is "x"; expected object'],
  [
    'SVC_DISPATCHER__PORT',
    '1',
    'SVC_DISPATCHER__PORT: [svc.dispatcher] has no key port; expected one of stream_host, stream_port',
  ],
  [
    'SVC_RPC__SECRET',
    'short',
    'SVC_RPC__SECRET has a value that is hidden here; expected string to have >=16 characters',
  ],
])('%s=%s: one line with variable, given and expected value', (name, value, sentence) => {
  const expected = `invalid configuration: ${sentence}`
  expect(() => loadSettings({ ...CONFIGURED, [name]: value })).toThrow(new ConfigError(expected))
})

test.each([
  ['[svc.server]\nport = "x"\n', '[svc.server].port is "x"; expected a port from 0 to 65535'],
  [
    '[svc.server]\nprt = 1\nhots = 2\n',
    '[svc.server].prt: [svc.server] has no key prt; expected one of host, port,',
  ],
  ['[svc]\nhome = 3\n', '[svc].home is 3; expected string'],
  ['[svc.nats]\nurl = 5\n', '[svc.nats].url has a value that is hidden here; expected string'],
  ['[server]\nport = 1\n', 'server is outside of [svc]; expected tables such as [svc.server]'],
  ['svc = 1\n', 'svc is no table; expected [svc]'],
])('a file with %j: one line with file, key, given and expected value', (content, sentence) => {
  const SVC_CONFIG = file(content)
  const thrown = catchError(() => loadSettings({ SVC_CONFIG }))
  expect(thrown).toBeInstanceOf(ConfigError)
  expect(thrown.message).toContain(`invalid configuration: ${SVC_CONFIG}: ${sentence}`)
  expect(thrown.message).not.toContain('\n')
})

test('a file that is no TOML, or not there: one line with place and reason', () => {
  const SVC_CONFIG = file('[svc.server]\nport = \n')
  const { message } = catchError(() => loadSettings({ SVC_CONFIG }))
  expect(message).toMatch(/^invalid configuration: .*svc\.toml, line 2, column \d+: .+$/)
  expect(() => loadSettings({ SVC_CONFIG: '/nonexistent/svc.toml' })).toThrow(
    'invalid configuration: cannot read /nonexistent/svc.toml: ENOENT',
  )
})

test('several mistakes: all in one line', () => {
  const { message } = catchError(() =>
    loadSettings({ ...CONFIGURED, SVC_SERVER__PORT: 'x', SVC_MCP__PORT: 'y' }),
  )
  expect(message).toMatch(/^invalid configuration: SVC_SERVER__PORT .*; SVC_MCP__PORT [^\n]*$/)
})

test('options of workers in file and environment: are left to the workers', () => {
  const path = join(temporaryFolder('settings'), 'svc.toml')
  writeFileSync(path, '[svc.worker]\nchildren = 2\n')
  const given = { SVC_CONFIG: path, SVC_WORKER__CHILDREN: '3' }
  expect(loadSettings(given)).toEqual(loadSettings({ SVC_CONFIG: '/dev/null' }))
})

function catchError(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}
