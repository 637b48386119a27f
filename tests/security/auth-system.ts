import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Defer } from '@windlass/testkit/defer'
import { startOidcIssuer } from '@windlass/testkit/issuer'
import { type SystemOptions, startSystem } from '@windlass/testkit/system'
import { type Answer, sendRequest } from './raw-http.ts'

const MAKER = fileURLToPath(
  new URL('../../../services/identity/dist/create-admin-key.js', import.meta.url),
)

const authEnabledEnv = (issuer: string) => ({
  SVC_SECURITY__AUTH__ENABLED: 'true',
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: 'a secret of the tests alone',
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'a key of the tests alone',
  SVC_SECURITY__AUTH__OIDC__ENABLED: 'true',
  SVC_SECURITY__AUTH__OIDC__ISSUER: issuer,
  SVC_SECURITY__AUTH__OIDC__AUDIENCE: 'windlass',
})

/** A worker of these tests does not come back: a test process that stalls for a second must not lose it. */
const TOLERANT_HEARTBEATS = { SVC_WORKERS__HEARTBEAT_TIMEOUT: '60' }

export interface RequestSpec {
  token?: string
  body?: unknown
  raw?: string | Buffer
  headers?: Record<string, string>
}

export type AuthSystem = Awaited<ReturnType<typeof startAuthSystem>>

interface AuthSystemOptions extends SystemOptions {
  /** Authentication is off, and there are no secrets that it would need. */
  isAuthDisabled?: boolean
}

/** A whole system with authentication on, an issuer beside it, and an administrator in it. */
export async function startAuthSystem(
  defer: Defer,
  { isAuthDisabled = false, ...options }: AuthSystemOptions = {},
) {
  const idp = await startOidcIssuer(defer)
  const system = await startSystem({
    workers: 0,
    defer,
    ...options,
    env: {
      ...TOLERANT_HEARTBEATS,
      ...(isAuthDisabled ? {} : authEnabledEnv(idp.issuer)),
      ...options.env,
    },
  })
  const admin = await adminKey(system.database)
  let made = 0
  const keys = new Map<string, Promise<string>>()

  /** `METHOD /path` at one of the gateways. */
  const ask = (what: string, { token, body, raw, headers = {} }: RequestSpec = {}, gateway = 0) => {
    const [method = '', path = ''] = what.split(' ', 2)
    const credential: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
    return sendRequest(system.gateways[gateway] ?? '', method, path, {
      headers: { ...credential, ...headers },
      body,
      raw,
    })
  }
  /** The same, which must succeed. Answers the body. */
  const must = async (what: string, given: RequestSpec = {}) => {
    const answer = await ask(what, { token: admin, ...given })
    if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${answer.text}`)
    return answer.body as Record<string, string>
  }
  /** A new service account with these roles, and a key of it. */
  const account = async (roles: string[], subject = `account-${++made}`) => {
    const wanted = { type: 'service_account', subject, roles }
    await must('POST /admin/principals', { body: wanted })
    const { key = '' } = await must(`POST /admin/principals/${subject}/keys`, {
      body: { name: 'k' },
    })
    return { subject, key }
  }
  /** The key of an account that holds these permissions and nothing else. */
  const holding = (permissions: readonly string[]): Promise<string> => {
    const name = JSON.stringify(permissions)
    const key = keys.get(name) ?? make(permissions)
    keys.set(name, key)
    return key
  }
  const make = async (permissions: readonly string[]) => {
    const role = `role-${++made}`
    await must('POST /admin/roles', { body: { name: role, permissions } })
    return (await account([role])).key
  }
  const upload = async (source: string, token = admin, gateway = 0) => {
    const form = new FormData()
    form.append('file', new Blob([source]), 'workflow.py')
    const headers = { authorization: `Bearer ${token}` }
    return fetch(`${system.gateways[gateway]}/workflows`, { method: 'POST', body: form, headers })
  }
  return { system, idp, admin, ask, must, account, holding, upload }
}

/** Made as an operator makes it, past every door: with the database. */
async function adminKey(database: string): Promise<string> {
  const env = { ...process.env, SVC_CONFIG: '/dev/null', SVC_POSTGRES__URL: database }
  const { stdout } = await promisify(execFile)(process.execPath, [MAKER, 'root'], { env })
  return stdout.trim()
}

export const workflowSource = (namespace: string, name: string, options = '') => `
from windlass import ExecutionContext, workflow


@workflow.with_options(name="${name}", namespace="${namespace}"${options})
async def flow(context: ExecutionContext):
    return context.input
`

export type { Answer }
