import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { samples } from '../../test/setting-samples.ts'
import { callerToken, loadSettings } from './load-settings.ts'
import { Settings } from './settings.ts'

interface Schema {
  properties?: Record<string, Schema>
}

const paths = (schema: Schema, prefix = ''): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    inner.properties ? paths(inner, `${prefix}${name}.`) : [`${prefix}${name}`],
  )

const every = paths(z.toJSONSchema(Settings, { io: 'input', unrepresentable: 'any' }) as Schema)

const at = (tree: unknown, path: string) =>
  path.split('.').reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], tree)

function file(content: string): string {
  const path = join(temporaryFolder('settings'), 'svc.toml')
  writeFileSync(path, content)
  return path
}

/** JSON, or an inline table. */
const toToml = (value: unknown) =>
  isTable(value)
    ? `{${Object.entries(value).map(([name, inner]) => `"${name}" = ${inner}`)}}`
    : JSON.stringify(value)

const toText = (value: unknown) =>
  isTable(value)
    ? Object.entries(value)
        .map(([name, inner]) => `${name}=${inner}`)
        .join(', ')
    : String(value)

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

test('settings: each has its row here', () => {
  expect(Object.keys(samples).sort()).toEqual(every.sort())
})

test.each(Object.entries(samples))(
  'the setting %s: read from svc.toml and from the environment',
  (path, [inFile, inEnv]) => {
    const keys = path.split('.')
    const table = ['svc', ...keys.slice(0, -1)].join('.')
    const SVC_CONFIG = file(`[${table}]\n${keys.at(-1)} = ${toToml(inFile)}\n`)
    expect(at(loadSettings({ SVC_CONFIG }), path)).toEqual(inFile)
    const variable = `SVC_${keys.join('__').toUpperCase()}`
    const value = Array.isArray(inEnv) ? inEnv.join(', ') : toText(inEnv)
    expect(at(loadSettings({ SVC_CONFIG, [variable]: value }), path)).toEqual(inEnv)
  },
)

test('the variable of the contract for the upload limit: accepted', () => {
  const settings = loadSettings({ SVC_CONFIG: '/dev/null', MAX_WORKFLOW_UPLOAD_BYTES: '2048' })
  expect(settings.catalog.max_workflow_upload_bytes).toBe(2048)
})

test('defaults: the numbers of the contract', () => {
  const { server, workers, catalog, executions, retention, scheduling, security } = loadSettings({
    SVC_CONFIG: '/dev/null',
  })
  expect(server).toMatchObject({ port: 8000, max_body_bytes: 16 * 2 ** 20, max_json_depth: 512 })
  expect(workers).toMatchObject({
    heartbeat_interval: 10,
    heartbeat_timeout: 30,
    eviction_grace_period: 10,
    register_rate_limit: '30/minute',
  })
  expect(catalog.max_workflow_upload_bytes).toBe(1_048_576)
  expect(executions).toEqual({
    claim_timeout: 10,
    cancel_timeout: 60,
    max_attempts: 5,
    max_log_bytes: 134_217_728,
    resume_version: 'newest',
  })
  expect(retention).toMatchObject({
    enabled: false,
    retention_days: 30,
    log_partitions: 8,
    sweep_interval: 3600,
    batch_size: 500,
  })
  expect(scheduling).toEqual({ auto_schedule_enabled: true, catchup_window: 3600 })
  expect(security.auth.enabled).toBe(false)
  expect(
    loadSettings({ SVC_CONFIG: '/dev/null', SVC_WORKERS__HEARTBEAT_INTERVAL: '2' }).workers
      .heartbeat_timeout,
  ).toBe(6)
})

test.each([
  ['SVC_WORKERS__HEARTBEAT_INTERVL', '5', 'heartbeat_intervl'],
  ['SVC_WORKERS__HEARTBEAT_INTERVAL', '0', 'WORKERS__HEARTBEAT_INTERVAL'],
  ['SVC_WORKERS__HEARTBEAT_INTERVAL', 'ten', 'WORKERS__HEARTBEAT_INTERVAL'],
  ['SVC_WORKERS__REGISTER_RATE_LIMIT', 'often', 'WORKERS__REGISTER_RATE_LIMIT'],
  ['SVC_SERVER__PORT', '65536', 'SERVER__PORT'],
  ['SVC_SERVER__PUBLIC_URL', 'windlass.example', 'SERVER__PUBLIC_URL'],
  ['SVC_SERVER__PUBLIC_URL', 'ftp://windlass.example', 'SERVER__PUBLIC_URL'],
  ['SVC_SERVER__PUBLIC_URL', 'https://windlass.example/api?x=1', 'a scheme, a host'],
  ['SVC_SERVER__ALLOWED_HOSTS', 'https://windlass.example', 'without a scheme'],
  ['SVC_MCP__ALLOWED_HOSTS', 'windlass.example, *', 'MCP__ALLOWED_HOSTS'],
  ['SVC_SECURITY__ENCRYPTION__PREVIOUS_KEYS', '["a",1]', 'ENCRYPTION__PREVIOUS_KEYS'],
  ['SVC_SECURITY__ENCRYPTION__PREVIOUS_KEYS', '["a","b"', 'must be a JSON array'],
  ['SVC_SECURITY__ENCRYPTION__PREVIOUS_KEYS', "['a', 'b']", 'must be a JSON array'],
  ['SVC_SECURITY__ENCRYPTION__PREVIOUS_KEYS', '[""]', 'ENCRYPTION__PREVIOUS_KEYS'],
  ['SVC_RETENTION__RETENTION_DAYS', '-1', 'RETENTION__RETENTION_DAYS'],
  ['SVC_RETENTION__NAMESPACES', 'prod', 'a JSON object or NAME=DAYS'],
  ['SVC_RETENTION__NAMESPACES', '{"prod":', 'a JSON object or NAME=DAYS'],
  ['SVC_RETENTION__NAMESPACES', 'prod=x', 'RETENTION__NAMESPACES'],
  ['SVC_RETENTION__SWEEP_INTERVAL', '1e9', 'RETENTION__SWEEP_INTERVAL'],
  ['SVC_RETENTION__SWEEP_INTERVAL', '3000000', 'up to 2000000'],
  ['SVC_RETENTION__BATCH_SIZE', '0', 'a whole number from 1'],
  ['SVC_SERVER', 'x', 'SVC_SERVER'],
  ['SVC_NOTHING', 'x', 'nothing'],
])('%s=%s: stops the start and names the setting', (name, value, named) => {
  expect(() => loadSettings({ SVC_CONFIG: '/dev/null', [name]: value })).toThrow(named)
})

test.each([
  ['a,b', ['a', 'b']],
  [' a , b ,', ['a', 'b']],
  ['', []],
  ['["a","b,c"]', ['a', 'b,c']],
  [' [ "a" ] ', ['a']],
  ['[]', []],
  ['[::1]:20101,[::1]:20102', ['[::1]:20101', '[::1]:20102']],
  ['[a', ['[a']],
])('the list %s in the environment: %j', (value, items) => {
  const env = { SVC_CONFIG: '/dev/null', SVC_SECURITY__ENCRYPTION__PREVIOUS_KEYS: value }
  expect(loadSettings(env).security.encryption.previous_keys).toEqual(items)
})

test('a table outside of [svc], or a missing file: refused', () => {
  expect(() => loadSettings({ SVC_CONFIG: file('[server]\nport = 1\n') })).toThrow(
    'outside of [svc]',
  )
  expect(() => loadSettings({ SVC_CONFIG: '/nonexistent/svc.toml' })).toThrow('ENOENT')
})

test('deploy/svc.toml: has every setting, with its default or as a comment', () => {
  const path = new URL('../../../../deploy/svc.toml', import.meta.url)
  const source = readFileSync(path, 'utf8')
  expect(loadSettings({ SVC_CONFIG: path.pathname })).toEqual(
    loadSettings({ SVC_CONFIG: '/dev/null' }),
  )
  const shown = parse(source.replace(/^# (\w+ = )/gm, '$1')) as { svc: unknown }
  for (const name of every) expect(at(shown.svc, name), name).toBeDefined()
})

test('a blank token of the caller: none', () => {
  expect(callerToken({ SVC_AUTH_TOKEN: ' a.b ' })).toBe('a.b')
  expect(callerToken({ SVC_AUTH_TOKEN: ' ' })).toBeUndefined()
  expect(callerToken({})).toBeUndefined()
})
