import { status } from '@grpc/grpc-js'
import type { Failure } from '@windlass/proto/windlass/rpc/v1/calls'
import type { LocalCall, LocalServer, RunningCall } from '@windlass/runtime/process/colocation'
import { type RpcAuthorizer, RpcDenied } from './authorizer.ts'
import { HEALTH_CHECK_PATH } from './call.ts'
import { healthAnswer } from './health.ts'
import { MultiplexedCall, type RpcHandler } from './multiplexed-server.ts'

export interface LocalRpcServerDeps {
  rpcs: ReadonlyMap<string, RpcHandler>
  authorizer: RpcAuthorizer
  failureOf(path: string, error: unknown, traceparent: string | undefined): Failure
  isHealthy(): boolean
}

/**
 * Serves the rpcs of a service to callers in the same process. The code that serves connections also
 * authenticates, authorizes, executes and refuses these calls, on encoded messages: neither side can change
 * an object that the other one keeps, and refusals are the same as for calls from another process.
 */
export class LocalRpcServer implements LocalServer {
  readonly #deps: LocalRpcServerDeps
  readonly #running = new Set<Promise<unknown>>()

  constructor(deps: LocalRpcServerDeps) {
    this.#deps = deps
  }

  start(call: LocalCall): RunningCall {
    const { requestId: request_id, clientAddress: client_address, traceparent } = call
    const given = { request_id, client_address, traceparent }
    const running = new MultiplexedCall({ service: '', givesReceipts: true }, given)
    const response = this.#run(call, running)
    this.#running.add(response)
    void response.catch(() => {}).then(() => this.#running.delete(response))
    return {
      response,
      cancel: () => running.cancel(),
      requestAnswer: () => running.requestAnswer(),
    }
  }

  /** Waits for the calls that are running. */
  async whenIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  async #run({ path, request, ...given }: LocalCall, call: MultiplexedCall): Promise<Buffer> {
    const { rpcs, authorizer, failureOf, isHealthy } = this.#deps
    // In a later turn of the event loop, like a call that arrives over a connection: callers of one turn
    // are batched, and loops of calls that need no I/O leave time for other work.
    await new Promise((resolve) => setImmediate(resolve))
    try {
      call.service = authorizer.authenticate(given.serviceToken)
      if (path === HEALTH_CHECK_PATH) return healthAnswer(isHealthy())
      const rpc = rpcs.get(path)
      if (!rpc) throw new RpcDenied(status.UNIMPLEMENTED, `unknown rpc ${path}`)
      call.caller = authorizer.authorize(path, call.service, given.caller)
      const response = await rpc(request, call)
      if (call.isCancelled) call.lost?.()
      return response
    } catch (error) {
      throw failureOf(path, error, call.traceparent)
    }
  }
}
