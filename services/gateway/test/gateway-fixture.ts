import { toRecordedCaller } from '@windlass/domain/caller'
import { CatalogService, type Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { DispatcherService, FleetService } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { CapturedLinesService } from '@windlass/proto/windlass/executions/v1/captured_lines'
import {
  ApprovalsService,
  ExecutionsService,
  QueueService,
} from '@windlass/proto/windlass/executions/v1/executions'
import { HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import {
  type AuditDraft,
  type AuditRecord,
  AuditService,
} from '@windlass/proto/windlass/identity/v1/audit'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import {
  ApiKeysService,
  PrincipalsService,
  RolesService,
} from '@windlass/proto/windlass/identity/v1/principals'
import { ConfigsService, SecretsService } from '@windlass/proto/windlass/identity/v1/secrets'
import { ViewsService } from '@windlass/proto/windlass/identity/v1/views'
import { SchedulerService } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import type { Handlers } from '@windlass/rpc/call'
import { serviceNameOf } from '@windlass/rpc/policy'
import { RpcServer } from '@windlass/rpc/server'
import { Fault, notFound } from '@windlass/runtime/faults'
import { openBus } from '@windlass/runtime/nats/bus'
import { storeUrl, testUrl } from '@windlass/testkit/database'
import { startService } from '@windlass/testkit/service'
import { allowAll, testIdentity } from '@windlass/testkit/service-identity'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { start } from '../src/server.ts'
import { workerUrl } from './body-worker.ts'
import { FakeExecutions } from './executions-fake.ts'

type FakeHandlers<S> = Partial<Handlers<S>>

export interface FakeServices {
  audit?: FakeHandlers<typeof AuditService>
  approvals?: FakeHandlers<typeof ApprovalsService>
  catalog?: FakeHandlers<typeof CatalogService>
  dispatcher?: FakeHandlers<typeof DispatcherService>
  executions?: FakeHandlers<typeof ExecutionsService>
  /** Absent: executions is from a release without it. */
  history?: FakeHandlers<typeof HistoryService>
  /** Likewise. */
  capturedLines?: FakeHandlers<typeof CapturedLinesService>
  fleet?: FakeHandlers<typeof FleetService>
  queue?: FakeHandlers<typeof QueueService>
  identity?: FakeHandlers<typeof IdentityService>
  principals?: FakeHandlers<typeof PrincipalsService>
  keys?: FakeHandlers<typeof ApiKeysService>
  roles?: FakeHandlers<typeof RolesService>
  secrets?: FakeHandlers<typeof SecretsService>
  configs?: FakeHandlers<typeof ConfigsService>
  scheduler?: FakeHandlers<typeof SchedulerService>
  /** Absent: identity is from a release without it. */
  views?: FakeHandlers<typeof ViewsService>
}

const log = pino({ level: process.env.TEST_LOG ?? 'silent' })

/** Starts a gateway with fake services, real NATS and real Redis. */
export async function startGateway(scripts: FakeServices = {}, env: Record<string, string> = {}) {
  const bus = await openBus(testUrl('TEST_NATS_URL'), log)
  onTestFinished(() => bus.close())
  const executions = new FakeExecutions(bus)
  const startWithThreads: typeof start = (settings, runtime) => start(settings, runtime, workerUrl)
  const { ports, ...service } = await startService(startWithThreads, {
    SVC_SERVER__PORT: '0',
    SVC_NATS__URL: storeUrl(testUrl('TEST_NATS_URL'), 'gateway'),
    SVC_REDIS__URL: storeUrl(testUrl('TEST_REDIS_URL'), 'gateway'),
    SVC_WORKERS__REGISTER_RATE_LIMIT: '',
    SVC_SECURITY__EXECUTION_TOKEN_SECRET: 'an execution token secret of the tests',
    SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'an encryption key of the tests alone',
    SVC_SERVICES__CATALOG: await serve(CatalogService, { ...catalog, ...scripts.catalog }),
    SVC_SERVICES__EXECUTIONS: await serveAll(
      [ExecutionsService, { ...executions.handlers, ...scripts.executions }],
      [ApprovalsService, scripts.approvals ?? {}],
      [QueueService, scripts.queue ?? {}],
      ...ifGiven(HistoryService, scripts.history),
      ...ifGiven(CapturedLinesService, scripts.capturedLines),
    ),
    SVC_SERVICES__IDENTITY: await serveAll(
      [IdentityService, { ...identity, ...scripts.identity }],
      [PrincipalsService, scripts.principals ?? {}],
      [ApiKeysService, scripts.keys ?? {}],
      [RolesService, scripts.roles ?? {}],
      [SecretsService, scripts.secrets ?? {}],
      [ConfigsService, scripts.configs ?? {}],
      [AuditService, { ...audit, ...scripts.audit }],
      ...ifGiven(ViewsService, scripts.views),
    ),
    SVC_SERVICES__DISPATCHER: await serveAll(
      [DispatcherService, scripts.dispatcher ?? {}],
      [FleetService, scripts.fleet ?? {}],
    ),
    SVC_SERVICES__SCHEDULER: await serve(SchedulerService, scripts.scheduler ?? {}),
    ...env,
  })
  const url = `http://127.0.0.1:${ports.http}`
  const call = (method: string, path: string, { body, headers, ...init }: RequestInit = {}) => {
    // A stop waits for requests on connections that stay open, and nearly every test stops a gateway.
    const closing = new Headers(headers)
    if (!closing.has('connection')) closing.set('connection', 'close')
    const limits = { signal: AbortSignal.timeout(20_000) }
    return fetch(url + path, { method, body, ...limits, ...init, headers: closing })
  }
  const json = (method: string, path: string, body: unknown, headers = {}) =>
    call(method, path, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
  return { url, call, json, ...service, bus, executions }
}

type FakeService = [service: Parameters<RpcServer['serve']>[0], script: Record<string, unknown>]

/** A service that a release may lack. */
const ifGiven = (service: FakeService[0], script: FakeService[1] | undefined): FakeService[] =>
  script ? [[service, script]] : []

const serve = (...scripted: FakeService) => serveAll(scripted)

/** Starts a gRPC server of these handlers; the other rpcs are not found. Returns its address. */
async function serveAll(...services: FakeService[]): Promise<string> {
  const [[first] = []] = services
  const server = new RpcServer(log, testIdentity(first ? serviceNameOf(first) : ''))
  for (const [service, script] of services) {
    const rest = Object.keys(service).map((rpc) => [
      rpc,
      async () => {
        throw notFound('script for', rpc)
      },
    ])
    server.serve(service, { ...Object.fromEntries(rest), ...script }, allowAll(service))
  }
  const port = await server.listen({ host: '127.0.0.1', port: 0 }, [])
  onTestFinished(() => server.stop())
  return `127.0.0.1:${port}`
}

export const workflow = (changes: Partial<Workflow> = {}): Workflow => ({
  id: '0'.repeat(31).concat('1'),
  namespace: 'default',
  name: 'hello',
  version: 1,
  source: Buffer.from('x'),
  imports: [],
  metadata_json: '{"task_names":[]}',
  requests_json: 'null',
  affinity_json: 'null',
  requirement: undefined,
  input_schema_json: '',
  created_at: undefined,
  created_by: '',
  ...changes,
})

/** Has every workflow but `missing`, up to version 3. */
const catalog: FakeHandlers<typeof CatalogService> = {
  async resolve({ namespace, name, version }) {
    if (name === 'missing' || version > 3) throw notFound('Workflow', `${namespace}/${name}`)
    return workflow({ namespace, name, version: version || 3 })
  },
}

/** Converts a record to the draft that identity stores, with the caller of its on-behalf-of token. */
export function draftOf({ caller: statement, request_id, ...record }: AuditRecord): AuditDraft {
  const caller = testIdentity('identity').verifyCaller(
    statement,
    'gateway',
    AuditService.record.path,
  )
  if (!caller) throw new Error('a record without a genuine statement')
  const { key_prefix = '' } = caller
  return { ...record, by: { ...toRecordedCaller(caller), key_prefix, request_id } }
}

const audit: FakeHandlers<typeof AuditService> = {
  record: async ({ records }) => ({ seqs: records.map((_, i) => i + 1) }),
}

/** The session token of worker `w` is `session-of-w`. */
const identity: FakeHandlers<typeof IdentityService> = {
  async checkSession({ token }) {
    const [, worker_name] = /^session-of-(.+)$/.exec(token) ?? []
    if (!worker_name) throw new Fault('unauthenticated', 'Invalid or expired token')
    return { worker_name, session_id: '5'.repeat(32) }
  },
}
