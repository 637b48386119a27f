import { status } from '@grpc/grpc-js'
import type { Failure } from '@windlass/proto/windlass/rpc/v1/calls'
import { countDependencyFailure } from '@windlass/runtime/dependency-failures'
import type { LocalServer } from '@windlass/runtime/process/colocation'
import { retry } from '@windlass/runtime/retry'
import { startTimeLimit } from '@windlass/runtime/timeout'
import type { OutgoingCall } from './multiplexed-client.ts'
import type { ServiceIdentity } from './service-identity.ts'

/** A call waits up to MAX_RETRIES * RETRY_MS for a service of this process that is starting. */
const RETRY_MS = 100
const MAX_RETRIES = 20

/** A service of this process that does not accept calls yet, or no longer does. */
const NOT_SERVING = failure(status.UNAVAILABLE, 'the service does not accept calls')

/**
 * Calls a service of the same process. Deadline, cancellation and failures are those of a call on a
 * stream (multiplexed-client.ts). Rejects with a Failure.
 */
export async function callLocally(
  identity: ServiceIdentity,
  service: string,
  outgoing: OutgoingCall,
): Promise<Buffer> {
  const server = await waitForServer(identity, service, outgoing)
  return callServer(server, { ...outgoing, serviceToken: identity.serviceToken(service) }, service)
}

async function waitForServer(
  { colocation }: ServiceIdentity,
  service: string,
  { deadline, signal }: OutgoingCall,
): Promise<LocalServer> {
  const find = async () => {
    const server = colocation?.servers.get(service)
    if (server) return server
    throw NOT_SERVING
  }
  return (
    colocation?.servers.get(service) ??
    retry(find, {
      budgetMs: deadline - Date.now(),
      pauseMs: RETRY_MS,
      maxRetries: MAX_RETRIES,
      isRetryable: () => !signal?.aborted,
    })
  )
}

interface AuthenticatedCall extends OutgoingCall {
  serviceToken: string
}

function callServer(
  server: LocalServer,
  outgoing: AuthenticatedCall,
  service: string,
): Promise<Buffer> {
  const { deadline, signal, answerNow } = outgoing
  return new Promise<Buffer>((resolve, reject) => {
    if (signal?.aborted) return reject(failure(status.CANCELLED, 'cancelled'))
    const running = server.start(outgoing)
    const release = () => {
      cancelDeadline()
      signal?.removeEventListener('abort', onAbort)
      answerNow?.removeEventListener('abort', onAnswerNow)
    }
    const abandon = (reason: Failure) => {
      release()
      running.cancel()
      reject(reason)
    }
    const onAbort = () => abandon(failure(status.CANCELLED, 'cancelled'))
    const onAnswerNow = () => running.requestAnswer()
    const onDeadline = () => {
      countDependencyFailure(service, 'timeout')
      abandon(failure(status.DEADLINE_EXCEEDED, 'deadline exceeded'))
    }
    const cancelDeadline = startTimeLimit(deadline - Date.now(), onDeadline)
    signal?.addEventListener('abort', onAbort, { once: true })
    answerNow?.addEventListener('abort', onAnswerNow, { once: true })
    running.response.then(resolve, reject).finally(release)
  })
}

function failure(code: status, message: string): Failure {
  return { code, message, fault: Buffer.alloc(0) }
}
