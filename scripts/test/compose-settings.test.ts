import { expect, test } from 'vitest'
import { loadSettings } from '../../packages/runtime/src/config/load-settings.ts'
import { readComposeServices } from '../system/compose-environment.ts'

const services = readComposeServices()

/** A wrong value for each variable of compose.yml whose values have a form. */
const WRONG: Record<string, string> = {
  SVC_ADMIN__DRAIN_DELAY: 'soon',
  SVC_SECURITY__AUTH__ENABLED: 'maybe',
  SVC_SERVER__ALLOWED_HOSTS: 'http://balancer',
  SVC_SERVER__PUBLIC_URL: 'windlass.example',
  SVC_SERVER__TRUSTED_PROXIES: '-1',
}
/** Set by .env, if at all. */
const OPTIONAL: Record<string, string> = {
  SVC_TELEMETRY__OTLP_ENDPOINT: 'collector:4318',
  SVC_TELEMETRY__SAMPLE_RATIO: '2',
}
/** Addresses, lists of them, and secrets: the service checks them when it opens what they name. */
const CHECKED_LATER =
  /^SVC_(?:SERVICES__\w+|(?:POSTGRES|NATS|REDIS)__URL|RPC__KEYS|MCP__SERVER_URL|WORKERS__BOOTSTRAP_TOKEN|SECURITY__EXECUTION_TOKEN_SECRET|SECURITY__ENCRYPTION__ENCRYPTION_KEY)$/

test.each(services)('$name in compose.yml: its service accepts its environment', ({ env }) => {
  expect(loadSettings({ SVC_CONFIG: '/dev/null', ...env }).security.auth.enabled).toBe(true)
})

const cases = services.flatMap(({ name, env }) =>
  Object.entries({ ...WRONG, ...OPTIONAL })
    .filter(([variable]) => variable in env || variable in OPTIONAL)
    .map(([variable, value]) => ({ name, env, variable, value })),
)

test.each(cases)(
  '$name in compose.yml with $variable=$value: is refused in one line that names it',
  ({ env, variable, value }) => {
    const load = () => loadSettings({ SVC_CONFIG: '/dev/null', ...env, [variable]: value })
    // Addresses may contain passwords.
    const given = `(?:is "${value}"|has a value that is hidden here)`
    const expected = '(?:expected|it must) [^\\n]+'
    expect(load).toThrow(new RegExp(`^invalid configuration: ${variable} ${given}; ${expected}$`))
  },
)

test('variables of compose.yml: each has a wrong value here, or its service checks it later', () => {
  const variables = services.flatMap(({ env }) => Object.keys(env))
  const without = variables.filter((name) => !(name in WRONG) && !CHECKED_LATER.test(name))
  expect(without).toEqual([])
})
