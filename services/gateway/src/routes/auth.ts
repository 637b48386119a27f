import type { FindLatest } from '@windlass/domain/permissions'
import { Fault, unprocessable } from '@windlass/runtime/faults'
import { z } from 'zod'
import { findLatestOf } from '../access/workflow.ts'
import type { Services } from '../clients/connect.ts'
import { namespaceOf, splitWorkflowRef, workflowNameOf } from '../domain/names.ts'
import { permissionsFor } from '../domain/permissions.ts'
import { json } from '../route/body.ts'
import { route } from '../route/route.ts'

const Permissions = z.array(z.string())

export const getPermissions = route('get', '/auth/permissions', {
  summary: 'What reading and running takes, of one workflow or of all by namespace/name',
  access: 'authenticated',
  query: { workflow: z.string().optional() },
  returns: z.union([Permissions, z.record(z.string(), Permissions)]),
  async handle({ query, services }) {
    if (query.workflow !== undefined) {
      const { namespace, name } = refOf(query.workflow)
      return permissionsFor(
        await services.resolveWorkflow(namespace, name, 0),
        findLatestOf(services),
      )
    }
    const { workflows } = await services.catalog.list({ namespace: '' })
    const byName = new Map(workflows.map((one) => [`${one.namespace}/${one.name}`, one]))
    const latest: FindLatest = async (namespace, name) => byName.get(`${namespace}/${name}`)
    const entries = [...byName].map(async ([name, one]) => [
      name,
      await permissionsFor(one, latest),
    ])
    return Object.fromEntries(await Promise.all(entries))
  },
})

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
  summary: 'Whom a bearer token stands for; ten times a minute',
  access: 'admin:*',
  body: json(
    z.object({ token: z.string().max(MAX_TOKEN_CHARS).nullish() }).meta({ id: 'TestTokenRequest' }),
  ),
  returns: Verdict,
  async handle({ body: { token }, services, ctx }) {
    await services.tokenTestLimit.count(ctx)
    if (!token) return { valid: false, error: "Missing 'token' in request body" }
    return verdictOf(token, services)
  },
})

/** While authentication is off every token is as good as none. */
async function verdictOf(token: string, services: Services): Promise<z.input<typeof Verdict>> {
  if (!services.settings.security.auth.enabled)
    return { valid: true, subject: 'anonymous', roles: [], permissions: [] }
  try {
    const { subject, roles = [], permissions = [] } = await services.authenticateToken(token)
    return { valid: true, subject, roles: [...roles].sort(), permissions: [...permissions].sort() }
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unauthenticated')
      return { valid: false, error: error.message }
    throw error
  }
}
