import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const TOKEN_SECRET = '[svc.security].execution_token_secret'
const ENCRYPTION_KEY = '[svc.security.encryption].encryption_key'

/** What is set, and what is then named. */
const LACKING: [what: string, env: Record<string, string>, named: string][] = [
  ['both', {}, `${TOKEN_SECRET} and ${ENCRYPTION_KEY}`],
  ['the token secret', { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'k' }, TOKEN_SECRET],
  ['the encryption key', { SVC_SECURITY__EXECUTION_TOKEN_SECRET: 's' }, ENCRYPTION_KEY],
  [
    'all but blanks',
    {
      SVC_SECURITY__EXECUTION_TOKEN_SECRET: ' ',
      SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: '\t',
    },
    `${TOKEN_SECRET} and ${ENCRYPTION_KEY}`,
  ],
]

const OIDC = 'SVC_SECURITY__AUTH__OIDC__'
const SET = {
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: 's',
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'k',
  [`${OIDC}ENABLED`]: 'true',
}

/** Issuers that no gateway trusts. */
const ISSUERS = [
  'http://169.254.169.254/',
  'http://elsewhere.example/',
  'http://localhost.example/',
  'gopher://idp.example/',
  'file:///etc/passwd',
  'idp.example',
  '',
]

const cases = ['identity', 'gateway', 'executions'].flatMap((service) =>
  LACKING.map(([what, env, named]) => [service, what, env, named] as const),
)

test.each(cases)(
  'with authentication on %s does not start without %s, and names what is missing',
  async (service, _, env, named) =>
    expect(await refusalOf(service, env)).toContain(
      `authentication is on, which needs ${named} to be set`,
    ),
)

test.each(ISSUERS)('N031: a gateway does not start with the issuer %j', async (issuer) => {
  const env = { ...SET, [`${OIDC}ISSUER`]: issuer, [`${OIDC}AUDIENCE`]: 'windlass' }
  expect(await refusalOf('gateway', env)).toContain('[svc.security.auth.oidc]')
})

/** What a service says that does not start. */
async function refusalOf(service: string, env: Record<string, string>): Promise<string> {
  const main = fileURLToPath(new URL(`../../../services/${service}/dist/main.js`, import.meta.url))
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
