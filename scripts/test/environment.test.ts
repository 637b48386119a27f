import { expect, it } from 'vitest'
import { generalEnv, settingsEnv, workerEnv } from '../system/environment.ts'

const SECRETS = {
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: ['identity'],
  SVC_SECURITY__ENCRYPTION__PREVIOUS_KEYS: ['identity'],
  svc_security__encryption__encryption_key: ['identity'],
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: ['executions', 'gateway'],
  SVC_WORKERS__BOOTSTRAP_TOKEN: ['identity'],
  SVC_ARCHIVE__SECRET_ACCESS_KEY: ['executions'],
  SVC_POSTGRES__URL: [],
  SVC_POSTGRES__ADMIN_URL: [],
  SVC_NATS__URL: [],
  SVC_REDIS__URL: [],
  SVC_RPC__SECRET: [],
  SVC_AUTH_TOKEN: [],
}
const SERVICES = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler', 'gateway', 'mcp']

it.each(Object.entries(SECRETS))('%s: goes to %j alone of the services', (name, users) => {
  const env = { [name]: 'canary' }
  expect(SERVICES.filter((service) => name in settingsEnv(service, env)).sort()).toEqual(users)
  expect(generalEnv(env)).toEqual({})
  expect(workerEnv([name], env)).toEqual({})
})

it.each([
  ['SVC_EXECUTIONS__CLAIM_TIMEOUT', ['executions', 'gateway']],
  ['SVC_QUOTAS__PRINCIPAL_QUEUED_EXECUTIONS', ['executions', 'gateway', 'scheduler']],
  ['SVC_RETENTION__ENABLED', ['executions', 'scheduler']],
  ['SVC_WORKERS__HEARTBEAT_INTERVAL', ['dispatcher', 'gateway', 'identity']],
  ['SVC_CATALOG__SDK_MODULES', ['catalog', 'gateway']],
  ['SVC_SCHEDULING__CATCHUP_WINDOW', ['scheduler']],
  ['SVC_SECURITY__AUTH__OIDC__ISSUER', ['gateway']],
  ['SVC_SECURITY__SECRETS', ['identity']],
  ['SVC_AUDIT__LEVEL', ['gateway', 'identity']],
  ['SVC_MCP__NAME', ['mcp']],
  ['SVC_LOG_LEVEL', [...SERVICES].sort()],
])('%s: goes to the services that read it', (name, users) => {
  const env = { [name]: 'x' }
  expect(SERVICES.filter((service) => name in settingsEnv(service, env)).sort()).toEqual(users)
})

it('variables of the machine: services get all, workers an allow-list and those named', () => {
  const env = { PATH: '/bin', LC_ALL: 'C', https_proxy: 'p', PYTHONPATH: 'x', KEY: 'k', MORE: 'm' }
  expect(generalEnv(env)).toEqual(env)
  expect(settingsEnv('mcp', env)).toEqual(env)
  const { KEY: _, ...rest } = env
  expect(workerEnv(['MORE'], env)).toEqual(rest)
})
