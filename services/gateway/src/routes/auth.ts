import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { readWorkflows } from '@windlass/domain/list-workflows'
import { namespaceOf, splitWorkflowRef, workflowNameOf } from '@windlass/domain/names'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault, unprocessable } from '@windlass/runtime/faults'
import { exactClientAddress } from '@windlass/runtime/http/client-address'
import { z } from 'zod'
import type { AuthenticateToken } from '../access/api-key.ts'
import type { RateLimit } from '../access/rate-limit.ts'
import { findLatestOf } from '../access/workflow.ts'
import type { Caches } from '../cache/create-caches.ts'
import type { Clients } from '../clients/connect.ts'
import { permissionsFor } from '../domain/permissions.ts'
import { json } from '../route/body.ts'
import { route } from '../route/route.ts'

export interface Deps {
  authenticateToken: AuthenticateToken
  catalog: Clients['catalog']
  resolveWorkflow: Caches['resolveWorkflow']
  settings: Settings
  tokenTestLimit: RateLimit
}

const Permissions = z.array(z.string())

export const getPermissions = route('get', '/auth/permissions', {
  summary:
    'List the permissions to read and run one workflow, or all by namespace/name, without those that require thousands',
  isExpensive: true,
  access: 'authenticated',
  query: { workflow: z.string().optional() },
  returns: z.union([Permissions, z.record(z.string(), Permissions)]),
  async handle({ query }, deps: Deps) {
    if (query.workflow !== undefined) {
      const { namespace, name } = refOf(query.workflow)
      return permissionsFor(await deps.resolveWorkflow(namespace, name, 0), findLatestOf(deps))
    }
    const listed: Record<string, string[]> = {}
    let total = 0
    for await (const one of readWorkflows((request) => deps.catalog.list(request))) {
      const permissions = await permissionsFor(one, findLatestOf(deps), MAX_VISITED).catch(
        undefinedIfTooMany,
      )
      if (permissions) listed[`${one.namespace}/${one.name}`] = permissions
      total += permissions?.join().length ?? 0
      if (total > MAX_CHARS) throw unprocessable(TOO_MANY)
      // Any caller may ask for what all tenants declare, so other requests are answered in between.
      await yieldToOthers()
    }
    return listed
  },
})

/** Like the limit for a run, but lower: a workflow beyond it is left out of the list of all. */
const MAX_VISITED = 2_000
/** Maximum size of the list of all. */
const MAX_CHARS = 16 * 1_048_576

const TOO_MANY = {
  loc: ['query', 'workflow'],
  msg: 'all workflows together require too many permissions to list: ask for one',
  type: 'missing',
}

function undefinedIfTooMany(error: unknown): undefined {
  if (!(error instanceof Fault && error.kind === 'invalid')) throw error
}

function refOf(ref: string) {
  const parts = splitWorkflowRef(ref)
  const namespace = namespaceOf(parts.namespace)
  const name = workflowNameOf(parts.name)
  if (namespace !== undefined && name !== undefined) return { namespace, name }
  throw unprocessable({
    loc: ['query', 'workflow'],
    msg: 'must be name or namespace/name',
    type: 'value_error',
  })
}

const MAX_TOKEN_CHARS = 16_384

const Verdict = z
  .object({
    valid: z.boolean(),
    subject: z.string().optional(),
    roles: z.array(z.string()).optional(),
    permissions: Permissions.optional(),
    error: z.string().optional(),
  })
  .meta({ id: 'TokenVerdict' })

export const testToken = route('post', '/auth/test-token', {
  summary: 'Show the principal of a bearer token; ten times a minute',
  access: 'admin:*',
  body: json(
    z.object({ token: z.string().max(MAX_TOKEN_CHARS).nullish() }).meta({ id: 'TestTokenRequest' }),
  ),
  returns: Verdict,
  async handle({ body: { token }, ctx }, deps: Deps) {
    await deps.tokenTestLimit.count(ctx)
    if (!token) return { valid: false, error: "Missing 'token' in request body" }
    const address = exactClientAddress(ctx.req, deps.settings.server.trusted_proxies)
    return verdictOf({ token, address }, deps)
  },
})

/** While authentication is off a token has no meaning. */
async function verdictOf(
  { token, address }: { token: string; address: string },
  { authenticateToken, settings }: Deps,
): Promise<z.input<typeof Verdict>> {
  if (!settings.security.auth.enabled)
    return { valid: true, subject: 'anonymous', roles: [], permissions: [] }
  try {
    const { subject, roles = [], permissions } = await authenticateToken(token, address)
    const granted = permissions.kind === 'all' ? ['*'] : [...permissions.granted].sort()
    return { valid: true, subject, roles: [...roles].sort(), permissions: granted }
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unauthenticated')
      return { valid: false, error: error.message }
    throw error
  }
}
