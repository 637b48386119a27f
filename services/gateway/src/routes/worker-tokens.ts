import { objects } from '@windlass/domain/audit'
import { z } from 'zod'
import { onBehalfOf } from '../access/caller.ts'
import type { Clients } from '../clients/connect.ts'
import { Restrictions } from '../domain/worker-restrictions.ts'
import { json } from '../route/body.ts'
import { route } from '../route/route.ts'
import { unkept } from './entry-routes.ts'
import { plain } from './principal-views.ts'
import { timeOf } from './responses.ts'
import { Success } from './schemas.ts'

type Deps = Pick<Clients, 'workerTokens' | 'dispatcher'>

const MAX_DAYS = 36_500

export const createWorkerToken = route('post', '/admin/worker-tokens', {
  summary: 'Create a token with which workers register; the response alone contains it',
  access: 'admin:workers:manage',
  body: json(
    z
      .object({
        name: plain,
        expires_in_days: z.int().min(1).max(MAX_DAYS).nullish(),
        /** Number of registrations. */
        max_uses: z.int32().min(1).nullish(),
        restrictions: Restrictions.default({}),
      })
      .meta({ id: 'WorkerTokenRequest' }),
  ),
  returns: z.object({ token: z.string() }).meta({ id: 'NewWorkerToken' }),
  status: 201,
  audit: {
    action: 'worker_token.create',
    object: ({ body }) => objects.workerToken(body?.name),
    recorded: 'owner',
  },
  handle({ body, caller, ctx }, { workerTokens }: Deps) {
    unkept(ctx)
    const { name, expires_in_days, max_uses, restrictions } = body
    const request = {
      name,
      expires_in_days: expires_in_days ?? undefined,
      max_uses: max_uses ?? undefined,
      restrictions_json: JSON.stringify(restrictions),
    }
    return workerTokens.create(request, onBehalfOf(ctx, caller))
  },
})

export const listWorkerTokens = route('get', '/admin/worker-tokens', {
  summary: 'List the worker tokens, expired and used up ones too, by prefix',
  access: 'admin:workers:read',
  returns: z.array(
    z
      .object({
        name: z.string(),
        prefix: z.string(),
        created_at: z.string().nullable(),
        expires_at: z.string().nullable(),
        max_uses: z.int().nullable(),
        uses: z.int(),
        restrictions: Restrictions,
      })
      .meta({ id: 'WorkerToken' }),
  ),
  async handle(_, { workerTokens }: Deps) {
    const { tokens } = await workerTokens.list({})
    return tokens.map(({ restrictions_json, created_at, expires_at, max_uses, ...token }) => ({
      ...token,
      created_at: timeOf(created_at),
      expires_at: timeOf(expires_at),
      max_uses: max_uses ?? null,
      restrictions: JSON.parse(restrictions_json) as z.output<typeof Restrictions>,
    }))
  },
})

export const revokeWorkerToken = route('delete', '/admin/worker-tokens/{name}', {
  summary: 'Revoke a worker token and end the sessions of its workers',
  access: 'admin:workers:manage',
  returns: Success,
  audit: {
    action: 'worker_token.revoke',
    object: ({ params }) => objects.workerToken(params.name),
    recorded: 'owner',
  },
  async handle({ params: { name }, caller, ctx }, { workerTokens, dispatcher }: Deps) {
    const { worker_names } = await workerTokens.revoke({ name }, onBehalfOf(ctx, caller))
    await Promise.all(worker_names.map((worker) => dispatcher.endSession({ name: worker })))
    return { status: 'success' as const, message: `Worker token '${name}' revoked` }
  },
})

export const endWorkerSession = route('delete', '/workers/{name}/session', {
  summary: 'End the session of a worker at once: its token is refused, its work is released',
  access: 'admin:workers:manage',
  returns: Success,
  audit: {
    action: 'worker.end_session',
    object: ({ params }) => objects.worker(params.name),
    recorded: 'owner',
  },
  async handle({ params: { name }, caller, ctx }, { workerTokens, dispatcher }: Deps) {
    await dispatcher.get({ name })
    await workerTokens.endSession({ worker_name: name }, onBehalfOf(ctx, caller))
    await dispatcher.endSession({ name })
    return { status: 'success' as const, message: `Session of worker '${name}' ended` }
  },
})
