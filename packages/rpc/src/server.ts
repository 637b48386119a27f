import {
  Metadata,
  type MethodDefinition,
  Server,
  type ServerDuplexStream,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServerUnaryCall,
  type ServiceDefinition,
  type ServiceError,
  type StatusObject,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import {
  type CallRequest,
  type CallResponse,
  CallsService,
} from '@windlass/proto/windlass/rpc/v1/calls'
import { StallWatch } from '@windlass/runtime/process/stall-watch'
import { waitAtMost } from '@windlass/runtime/timeout'
import type { Logger } from 'pino'
import { headerText, RpcAuthorizer, RpcDenied } from './authorizer.ts'
import { isBatchedCommand } from './batched.ts'
import {
  FAULT_TRAILER,
  type Handlers,
  MAX_MESSAGE_BYTES,
  RECEIPTS_HEADER,
  SERVICE_TOKEN_HEADER,
  TRACEPARENT_HEADER,
} from './call.ts'
import { failureOf } from './failure-of.ts'
import { checkHealth, HealthService } from './health.ts'
import { LoadReporter } from './load-reporter.ts'
import { LocalRpcServer } from './local-server.ts'
import { MultiplexedServerStream, type RpcHandler } from './multiplexed-server.ts'
import type { RpcAccess } from './policy.ts'
import type { ServiceIdentity } from './service-identity.ts'
import { serverCredentialsOf } from './tls-credentials.ts'
import { traced, type Unary } from './traced.ts'
import { UnaryCall } from './unary-call.ts'

export type HealthCheck = () => Promise<unknown>

const CHECK_MS = 5_000
const DRAIN_MS = 10_000
const MAX_STREAMS = 4_096
/** The interval of other checks, which wake an idle process anyway. */
const STALL_CHECK_MS = 1_000

/**
 * A gRPC server of async functions. It accepts calls only from authenticated services, as multiplexed
 * streams and as unary calls, and answers the standard health service from the given checks.
 */
export class RpcServer {
  readonly #server: Server
  readonly #log: Logger
  readonly #identity: ServiceIdentity
  readonly #rpcs = new Map<string, RpcHandler>()
  readonly #authorizer: RpcAuthorizer
  readonly #streams = new Set<MultiplexedServerStream>()
  readonly #local: LocalRpcServer
  readonly #stalls = new StallWatch(STALL_CHECK_MS)
  readonly #load: LoadReporter
  #isHealthy = false
  #checking: NodeJS.Timeout | undefined

  /** `measureLoad`: utilization since its last call, 0 to 1. */
  constructor(log: Logger, identity: ServiceIdentity, measureLoad?: () => number) {
    this.#log = log
    this.#identity = identity
    this.#load = new LoadReporter((percent) => {
      for (const stream of this.#streams) stream.sendLoad(percent)
    }, measureLoad)
    this.#authorizer = new RpcAuthorizer(identity, log)
    this.#local = new LocalRpcServer({
      rpcs: this.#rpcs,
      authorizer: this.#authorizer,
      failureOf: (path, error, traceparent) => failureOf(path, error, { log, traceparent }),
      isHealthy: () => this.#isHealthy,
    })
    this.#server = new Server({
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
      'grpc.max_concurrent_streams': MAX_STREAMS,
      'grpc.enable_channelz': 0,
      interceptors: [guard(this.#authorizer)],
    })
    this.#server.addService(HealthService, { check: checkHealth(() => this.#isHealthy) })
    this.#server.addService(CallsService, {
      carry: (stream: ServerDuplexStream<CallRequest, CallResponse>) => this.#serveStream(stream),
    })
  }

  /** Adds a service. Each of its rpcs accepts calls only from the services that `access` names. */
  serve<S extends ServiceDefinition>(
    service: S,
    handlers: Handlers<S>,
    access: RpcAccess<S>,
  ): void {
    const adapted = Object.entries(handlers).map(([rpc, handler]) => {
      const method = service[rpc] as MethodDefinition<unknown, unknown>
      const handle = traced(method.path.slice(1), handler as Unary)
      this.#authorizer.add(method.path, access[rpc])
      this.#rpcs.set(method.path, toRpcHandler(method, handle))
      return [rpc, this.#unary(rpc, handle)]
    })
    this.#server.addService(service, Object.fromEntries(adapted))
  }

  /** Returns the bound port. From then on health follows the checks, every CHECK_MS. */
  async listen(address: { host: string; port: number }, checks: HealthCheck[]): Promise<number> {
    const bound = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync(
        `${address.host}:${address.port}`,
        serverCredentialsOf(this.#identity.tls),
        (error, bound) => (error ? reject(error) : resolve(bound)),
      )
    })
    await this.#check(checks)
    this.#checking = setInterval(() => void this.#check(checks), CHECK_MS)
    const { colocation, service } = this.#identity
    colocation?.servers.set(service, this.#local)
    return bound
  }

  /** Reports NOT_SERVING, refuses new calls and waits up to DRAIN_MS for running ones. */
  async stop(): Promise<void> {
    clearInterval(this.#checking)
    this.#stalls.stop()
    this.#load.stop()
    this.#isHealthy = false
    this.#identity.colocation?.servers.delete(this.#identity.service)
    for (const stream of this.#streams) stream.announceShutdown()
    const forceStopTimer = setTimeout(() => this.#server.forceShutdown(), DRAIN_MS)
    await new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()))
    await waitAtMost(DRAIN_MS, this.#local.whenIdle())
    clearTimeout(forceStopTimer)
  }

  async #check(checks: HealthCheck[]): Promise<void> {
    try {
      await Promise.all(checks.map((check) => check()))
      this.#isHealthy = true
    } catch (error) {
      this.#isHealthy = false
      this.#log.warn({ err: error }, 'health check failed')
    }
  }

  #unary(rpc: string, handle: Unary) {
    return (call: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<unknown>) => {
      const answer = async () => handle(call.request, new UnaryCall(call, this.#authorizer))
      void answer().then(
        (response) => done(null, response),
        (error) => done(this.#statusOf(rpc, error, call) as ServiceError),
      )
    }
  }

  #serveStream(stream: ServerDuplexStream<CallRequest, CallResponse>): void {
    const service = this.#authorizer.authenticate(headerText(stream.metadata, SERVICE_TOKEN_HEADER))
    const forget = this.#identity.peers?.exchange(service, stream)
    const calls = new MultiplexedServerStream(stream, {
      rpcs: this.#rpcs,
      service,
      onCall: (path) => {
        if (isBatchedCommand(path)) this.#load.onCall()
      },
      mayBeLate: () => this.#stalls.mayBeLate,
      givesReceipts: stream.metadata.get(RECEIPTS_HEADER).length > 0,
      authorize: (path, callerToken) => this.#authorizer.authorize(path, service, callerToken),
      failureOf: (path, error, traceparent) =>
        failureOf(path, error, { log: this.#log, traceparent }),
      onEnd: () => {
        this.#streams.delete(calls)
        forget?.()
      },
    })
    this.#streams.add(calls)
  }

  #statusOf(rpc: string, error: unknown, call: { metadata: Metadata }): Partial<StatusObject> {
    const traceparent = headerText(call.metadata, TRACEPARENT_HEADER) || undefined
    const { code, message, fault } = failureOf(rpc, error, { log: this.#log, traceparent })
    const metadata = new Metadata()
    if (fault.length > 0) metadata.set(FAULT_TRAILER, fault)
    return { code, details: message, metadata }
  }
}

const toRpcHandler =
  (method: MethodDefinition<unknown, unknown>, handle: Unary): RpcHandler =>
  async (request, call) =>
    method.responseSerialize(await handle(method.requestDeserialize(request), call))

/** Authorizes a gRPC call before its message is read, so that refused messages cost no memory. */
const guard =
  (admissions: RpcAuthorizer): ServerInterceptor =>
  ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, proceed) {
            try {
              admissions.check(path, metadata)
              proceed(metadata)
            } catch (error) {
              const known = error instanceof RpcDenied ? error : undefined
              const { code, message } = known ?? {
                code: status.INTERNAL,
                message: 'internal error',
              }
              call.sendStatus({ code, details: message })
            }
          },
        })
      },
    })
