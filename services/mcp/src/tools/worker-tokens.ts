import { path, toWorkerTokenName } from '@windlass/api-client/path'
import { toJsonObject, toPayload } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { messageResult, selectMembers, wrapListAs } from './shared.ts'

const nameArg = { name: z.string().describe('Name of the worker token') }

const RESTRICTIONS =
  'As JSON: {"name_prefix":"a-","namespaces":["team-a"],"labels":{"zone":["eu"]},"limits":{"max_concurrent_executions":4}}; every member is optional'

const optionalCount = (description: string) =>
  z.int().min(1).nullable().default(null).describe(description)

export const createWorkerToken = defineTool({
  name: 'create_worker_token',
  title: 'Create worker token',
  description:
    'Create a token with which workers register. The result alone contains it: it is a credential, and the conversation keeps it.',
  args: {
    ...nameArg,
    expires_in_days: optionalCount('Days until it expires; never if null'),
    max_uses: optionalCount('Number of registrations; unlimited if null'),
    restrictions: z.string().default('{}').describe(RESTRICTIONS),
  },
  request({ name, expires_in_days, max_uses, restrictions }) {
    toWorkerTokenName(name)
    const body = toJsonObject({
      name: quote(name),
      ...(expires_in_days !== null && { expires_in_days: String(expires_in_days) }),
      ...(max_uses !== null && { max_uses: String(max_uses) }),
      restrictions: toPayload(restrictions),
    })
    return { method: 'POST', path: path`/admin/worker-tokens`, body }
  },
  ...selectMembers({ token: z.string() }),
  doing: 'creating worker token',
  effect: 'creates',
})

export const listWorkerTokens = defineTool({
  name: 'list_worker_tokens',
  title: 'List worker tokens',
  description: 'List the worker tokens by prefix, with uses, expiry and restrictions.',
  args: {},
  request: () => ({ method: 'GET', path: path`/admin/worker-tokens` }),
  ...wrapListAs('worker_tokens'),
  doing: 'listing worker tokens',
  effect: 'reads',
})

export const revokeWorkerToken = defineTool({
  name: 'revoke_worker_token',
  title: 'Revoke worker token',
  description: 'Revoke a worker token and end the sessions of its workers.',
  args: nameArg,
  request: ({ name }) => ({
    method: 'DELETE',
    path: path`/admin/worker-tokens/${toWorkerTokenName(name)}`,
  }),
  ...messageResult,
  errors: { 404: ({ name }) => `Worker token '${name}' not found` },
  doing: 'revoking worker token',
  effect: 'deletes',
})
