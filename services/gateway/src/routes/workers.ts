import { objects } from '@windlass/domain/audit'
import { NAME_PATTERNS, plainNameOf } from '@windlass/domain/names'
import { NO_PERMISSIONS } from '@windlass/domain/permissions'
import type { Worker } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { WorkerGrant } from '@windlass/proto/windlass/identity/v1/identity'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault, notFound } from '@windlass/runtime/faults'
import { z } from 'zod'
import { type Caller, onBehalfOf } from '../access/caller.ts'
import { identityMismatch } from '../access/worker.ts'
import { requireWorkerCertificate } from '../access/worker-certificate.ts'
import type { Caches } from '../cache/create-caches.ts'
import type { Clients } from '../clients/connect.ts'
import type { DispatcherStreams } from '../clients/dispatcher-streams.ts'
import {
  firstRefusedField,
  type RestrictedClaims,
  type Restrictions,
} from '../domain/worker-restrictions.ts'
import type { RequestContext } from '../http/request-context.ts'
import { SseStream } from '../http/sse.ts'
import { json } from '../route/body.ts'
import { dictionary, text } from '../route/fields.ts'
import { EventStream } from '../route/media.ts'
import { StreamedResponse } from '../route/reply.ts'
import { route } from '../route/route.ts'
import { Package, Resources, Runtime, WorkerView, workerView } from './worker-views.ts'

export interface Deps extends Pick<Clients, 'dispatcher' | 'identity'>, Pick<Caches, 'getSession'> {
  dispatcherStreams: DispatcherStreams
  settings: Settings
}

const Registration = z
  .object({
    name: z
      .string()
      .refine((name) => plainNameOf(name) === name, 'must be 1 to 128 letters, digits, ., _ or -')
      .meta({ wire: { type: 'string', pattern: NAME_PATTERNS.plain } }),
    runtime: Runtime,
    packages: z.array(Package).max(10_000),
    resources: Resources,
    labels: dictionary(text(255), text(255)).default({}),
    max_concurrent_executions: z.int32().min(0).nullish(),
    runners: z.array(text(64)).max(16).nullish(),
    /** Not part of the original protocol: the same value for all registrations of one worker process. */
    instance: text(64).optional(),
    /** Not part of the original protocol: seconds within which the worker reconnects. */
    reconnect_grace: z.number().positive().max(3_600).nullish(),
    /** Not part of the original protocol: additions that the worker makes use of; unknown ones are ignored. */
    features: z.array(text(64)).max(32).nullish(),
  })
  .meta({ id: 'WorkerRegistration' })

export const registerWorker = route('post', '/workers/register', {
  summary: 'Register a worker, or renew its registration; answers its session token',
  access: 'bootstrap',
  body: json(Registration, { size: 'inventory' }),
  returns: WorkerView.extend({
    session_token: z.string(),
    task_authorization: z.boolean(),
    features: z.array(z.string()),
  }),
  audit: {
    action: 'worker.register',
    object: ({ body }) => objects.worker(body?.name),
    recorded: 'owner',
  },
  async handle({ body, caller, resolved: { renewed, grant }, ctx }, deps: Deps) {
    requireWorkerCertificate(ctx, deps.settings, body.name)
    if (renewed && renewed.worker_name !== body.name)
      throw identityMismatch(renewed.worker_name, body.name)
    const record = recordOf(body)
    const restrictions = requireAllowed(grant, { ...record, resources: body.resources })
    const answer = await deps.dispatcher.register({
      worker: record,
      instance: body.instance ?? '',
      proven_session_id: renewed?.session_id ?? (await provenSession(deps, ctx, body.name)),
      renewal: renewed !== undefined,
      reconnect_grace: body.reconnect_grace ?? undefined,
      claims_by_delivery: body.features?.includes(CLAIM_BY_DELIVERY),
      keeps_workflows: body.features?.includes(KEEP_WORKFLOWS),
      continues_cancelled: body.features?.includes(CONTINUE_CANCELLED),
      namespaces: restrictions.namespaces ? { names: restrictions.namespaces } : undefined,
    })
    const { session_id, worker } = answer
    if (!worker) throw new Error('a registration was not answered')
    const { token } = await deps.identity.issueSession(
      {
        worker_name: body.name,
        session_id,
        worker_token: grant?.token_name,
        renewal: renewed !== undefined,
      },
      onBehalfOf(ctx, renewed ? SESSION : caller),
    )
    const task_authorization = deps.settings.security.auth.enabled
    return { ...workerView(worker), session_token: token, task_authorization, features: FEATURES }
  },
})

/** The holder of a session token that renews its registration. */
const SESSION: Caller = { subject: 'session-token', permissions: NO_PERMISSIONS }

/**
 * Additions to the original protocol: a registration is renewed with the session token; an execution
 * token is accepted by the routes of a worker that concern its execution; a release may park the
 * execution until a condition is met; lines that workflows write are stored, also with checkpoints; several checkpoints fit one request; the first checkpoint may be
 * the claim, dispatches omit workflows that the worker keeps, and a cancelled execution is handed over, for
 * workers that announce it.
 */
const CLAIM_BY_DELIVERY = 'claim_by_delivery'
const KEEP_WORKFLOWS = 'keep_workflows'
const CONTINUE_CANCELLED = 'continue_cancelled'
const FEATURES = [
  'session_renewal',
  'execution_tokens',
  'parking',
  'captured_lines',
  'lines_in_checkpoints',
  'checkpoint_batches',
  CLAIM_BY_DELIVERY,
  KEEP_WORKFLOWS,
  CONTINUE_CANCELLED,
]

/** Returns the restrictions of the credential; refuses a registration beyond them. */
function requireAllowed(grant: WorkerGrant | undefined, claims: RestrictedClaims): Restrictions {
  if (!grant) return {}
  const restrictions = JSON.parse(grant.restrictions_json) as Restrictions
  const field = firstRefusedField(claims, restrictions)
  if (field !== undefined)
    throw new Fault(
      'forbidden',
      `The worker token '${grant.token_name}' does not allow this value of '${field}'.`,
    )
  return restrictions
}

function recordOf(body: z.output<typeof Registration>): Worker {
  const { name, runtime, packages, resources, labels } = body
  return {
    name,
    runtime,
    packages,
    resources,
    labels,
    max_concurrent_executions: body.max_concurrent_executions ?? 0,
    // Older workers do not send it; they have only this runner.
    runners: body.runners ?? ['inprocess'],
    status: '',
    metrics: {},
    last_seen_at: undefined,
    registered_at: undefined,
    session_id: '',
  }
}

/** Returns the session of the caller's token; empty if it belongs to another worker. */
async function provenSession(
  { getSession }: Deps,
  ctx: RequestContext,
  name: string,
): Promise<string> {
  const token = ctx.header('x-svc-session')
  if (token === undefined) return ''
  try {
    const session = await getSession(token)
    return session.worker_name === name ? session.session_id : ''
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unauthenticated') return ''
    throw error
  }
}

/** Long enough for a worker to answer the ping and thus learn that its session has ended. */
const HOLD_MS = 3_000

export const connectWorker = route('get', '/workers/{name}/connect', {
  summary: 'Open the stream of work and pings of a worker',
  access: 'own worker',
  returns: EventStream,
  refusals: { 401: EventStream },
  handle: async ({ resolved }, { dispatcherStreams }: Deps) =>
    new StreamedResponse((ctx) => dispatcherStreams.proxy(ctx, resolved)),
  refuse(error, ctx) {
    if (!(error instanceof Fault && error.kind === 'unauthenticated')) return false
    // Workers check only the content type, and register again only after a refused call.
    ctx.responseHeaders.push('www-authenticate', 'Bearer')
    const sse = new SseStream(ctx, { status: 401 })
    sse.send('event: ping\ndata: {}\n\n')
    setTimeout(() => sse.end(), HOLD_MS).unref()
    return true
  },
})

export const listWorkers = route('get', '/workers', {
  summary: 'List the known workers; those that serve other namespaces only are left out',
  isShared: true,
  access: 'sees workers',
  query: { status: z.enum(['online', 'offline', 'unhealthy']).optional() },
  returns: z.array(WorkerView),
  async handle({ query, resolved: isVisible }, { dispatcher }: Deps) {
    const { workers } = await dispatcher.list({ status: query.status ?? '' })
    return workers.filter(isVisible).map(workerView)
  },
})

export const getWorker = route('get', '/workers/{name}', {
  summary: 'Show a worker, connected or not',
  access: 'sees workers',
  returns: WorkerView,
  async handle({ params, resolved: isVisible }, { dispatcher }: Deps) {
    const worker = await dispatcher.get(params)
    if (!isVisible(worker)) throw notFound('Worker', params.name)
    return workerView(worker)
  },
})
