import { connect } from '@windlass/rpc/client'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { Batcher } from '@windlass/runtime/batcher'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Runtime } from '@windlass/runtime/process/main'

const CHECK_TIMEOUT_MS = 3_000
const nothing = () => Buffer.alloc(0)

/** The part of the standard gRPC health service that is used here. `SERVING` is 1 in field 1. */
const HealthService = {
  check: {
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    requestSerialize: nothing,
    requestDeserialize: () => ({}),
    responseSerialize: nothing,
    responseDeserialize: (bytes: Buffer) => ({ isServing: bytes[0] === 8 && bytes[1] === 1 }),
  },
} as const

export interface Health {
  /** True if the services behind this one are healthy, and so their database. */
  isHealthy(): Promise<boolean>
}

/** Watches executions and catalog, without which the gateway is not ready. */
export function watchHealth(
  { services }: Settings,
  serviceIdentity: ServiceIdentity,
  { teardown, readiness }: Pick<Runtime, 'teardown' | 'readiness'>,
): Health {
  const clients = (['executions', 'catalog'] as const).map((name) =>
    connect(HealthService, services[name], serviceIdentity, name),
  )
  const isHealthy = async () => {
    const checks = clients.map((client) => client.check({}, { timeoutMs: CHECK_TIMEOUT_MS }))
    const answers = await Promise.allSettled(checks)
    return answers.every((answer) => answer.status === 'fulfilled' && answer.value.isServing)
  }
  // Concurrent checks share one result.
  const batcher = new Batcher<undefined, boolean>(async (calls) => {
    const isServing = await isHealthy()
    return calls.map(() => isServing)
  })
  teardown.add('health', () => {
    for (const client of clients) client.close()
  })
  readiness.add('executions and catalog', async () => {
    if (!(await batcher.add(undefined))) throw new Error('not healthy')
  })
  return { isHealthy: () => batcher.add(undefined) }
}
