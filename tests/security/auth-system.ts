import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Defer } from '@windlass/testkit/defer'
import { startOidcIssuer } from '@windlass/testkit/issuer'
import { type SystemOptions, startSystem, TOLERANT_HEARTBEATS } from '@windlass/testkit/system'
import { type Answer, sendRequest } from './raw-http.ts'

const CREATE_ADMIN_KEY = fileURLToPath(
  new URL('../../services/identity/dist/create-admin-key.js', import.meta.url),
)

const authEnabledEnv = (issuer: string) => ({
  SVC_SECURITY__AUTH__ENABLED: 'true',
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: 'an execution token secret of the tests',
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'an encryption key of the tests alone',
  SVC_SECURITY__AUTH__OIDC__ENABLED: 'true',
  SVC_SECURITY__AUTH__OIDC__ISSUER: issuer,
  SVC_SECURITY__AUTH__OIDC__AUDIENCE: 'windlass',
})

export interface RequestSpec {
  token?: string
  body?: unknown
  raw?: string | Buffer
  headers?: Record<string, string>
}

export type AuthSystem = Awaited<ReturnType<typeof startAuthSystem>>

interface AuthSystemOptions extends SystemOptions {
  /** Starts without authentication and without the secrets that it needs. */
  isAuthDisabled?: boolean
}

/**
 * Starts a whole system with authentication on, an OIDC issuer, and an administrator. Its services share a
 * process, unless a test that kills or stops one says otherwise (`singleProcess: false`); further replicas never do.
 */
export async function startAuthSystem(
  defer: Defer,
  { isAuthDisabled = false, ...options }: AuthSystemOptions = {},
) {
  const idp = await startOidcIssuer(defer)
  const system = await startSystem({
    workers: 0,
    singleProcess: true,
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

  /** Sends `METHOD /path` to one of the gateways. */
  const request = (
    what: string,
    { token, body, raw, headers = {} }: RequestSpec = {},
    gateway = 0,
  ) => {
    const [method = '', path = ''] = what.split(' ', 2)
    const credential: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
    return sendRequest(system.gateways[gateway] ?? '', method, path, {
      headers: { ...credential, ...headers },
      body,
      raw,
    })
  }
  /** Sends a request that must succeed, as the administrator by default. Returns the body. */
  const requestOk = async (what: string, given: RequestSpec = {}) => {
    const answer = await request(what, { token: admin, ...given })
    if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${answer.text}`)
    return answer.body as Record<string, string>
  }
  /** Creates a service account with these roles and an API key. */
  const createAccount = async (roles: string[], subject = `account-${++made}`) => {
    const wanted = { type: 'service_account', subject, roles }
    await requestOk('POST /admin/principals', { body: wanted })
    const { key = '' } = await requestOk(`POST /admin/principals/${subject}/keys`, {
      body: { name: 'k' },
    })
    return { subject, key }
  }
  /** Returns the API key of an account that has exactly these permissions. */
  const keyWith = (permissions: readonly string[]): Promise<string> => {
    const name = JSON.stringify(permissions)
    const key = keys.get(name) ?? createKey(permissions)
    keys.set(name, key)
    return key
  }
  const createKey = async (permissions: readonly string[]) => {
    const role = `role-${++made}`
    await requestOk('POST /admin/roles', { body: { name: role, permissions } })
    return (await createAccount([role])).key
  }
  const upload = async (source: string, token = admin, gateway = 0) => {
    const form = new FormData()
    form.append('file', new Blob([source]), 'workflow.py')
    const headers = { authorization: `Bearer ${token}` }
    return fetch(`${system.gateways[gateway]}/workflows`, { method: 'POST', body: form, headers })
  }
  return { system, idp, admin, request, requestOk, createAccount, keyWith, upload }
}

/** Creates the administrator's key as an operator does: with access to the database. */
async function adminKey(database: string): Promise<string> {
  const env = { ...process.env, SVC_CONFIG: '/dev/null', SVC_POSTGRES__URL: database }
  const { stdout } = await promisify(execFile)(process.execPath, [CREATE_ADMIN_KEY, 'root'], {
    env,
  })
  return stdout.trim()
}

export const workflowSource = (namespace: string, name: string, options = '') => `
from windlass import ExecutionContext, workflow


@workflow.with_options(name="${name}", namespace="${namespace}"${options})
async def flow(context: ExecutionContext):
    return context.input
`

export type { Answer }
