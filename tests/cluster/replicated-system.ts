import { pathToFileURL } from 'node:url'
import { temporaryFolder } from '@windlass/testkit/folder'
import { startNatsCluster } from '@windlass/testkit/nats-cluster'
import { startPrivateRedis } from '@windlass/testkit/private-redis'
import { startReplicatedPostgres } from '@windlass/testkit/replicated-postgres'
import { startSystem } from '@windlass/testkit/system'
import { afterAll, beforeAll } from 'vitest'
import { client } from '../e2e/api.ts'
import { TWO_OF_EACH } from '../e2e/execution-fixture.ts'
import { recordTasks, sourceWith } from './recorded-tasks.ts'

/** A built checkout of an earlier commit, whose programs run first: the rolling restart then is an upgrade. */
export const EARLIER = process.env.TEST_EARLIER_TREE

/** Log lines of work that returned to the queue, or of what leads to that. */
const RELEASES = /"msg":"(?:work released|gateway hangs|lease not received|claim deadline)/

export type ReplicatedSystem = Awaited<ReturnType<typeof startReplicated>>

/** Starts two of each service, PostgreSQL with a synchronous standby, three NATS servers, Redis and Python workers. */
async function startReplicated(workers: number, defer: (teardown: () => unknown) => void) {
  const [postgres, nats, redis] = await Promise.all([
    startReplicatedPostgres(defer),
    startNatsCluster(defer),
    startPrivateRedis(defer),
  ])
  let evictions = 0
  const released: string[] = []
  const system = await startSystem({
    replicas: { ...TWO_OF_EACH, mcp: 2 },
    workers: 0,
    // Releases before this feature know one host.
    ...(EARLIER === undefined
      ? { standbys: [postgres.standbyUrl] }
      : { root: pathToFileURL(`${EARLIER}/`) }),
    infra: {
      TEST_POSTGRES_URL: postgres.url,
      TEST_NATS_URL: nats.url,
      TEST_REDIS_URL: redis.url,
    },
    env: {
      SVC_NATS__REPLICAS: '3',
      // The defaults of the product; the test system has far shorter ones.
      SVC_WORKERS__HEARTBEAT_INTERVAL: '10',
      SVC_WORKERS__HEARTBEAT_TIMEOUT: '30',
      SVC_WORKERS__EVICTION_GRACE_PERIOD: '10',
    },
    onOutput: (text) => {
      evictions += text.split('"msg":"worker evicted"').length - 1
      released.push(...text.split('\n').filter((line) => RELEASES.test(line)))
    },
    defer,
  })
  const tasks = recordTasks(temporaryFolder('tasks', defer))
  await client(system.url).upload(sourceWith(tasks.file))
  const args = ['--children', '1', '--max-concurrent', '32']
  await Promise.all(Array.from({ length: workers }, () => system.startWorker({ args })))
  return { system, postgres, nats, redis, tasks, released, evictions: () => evictions }
}

/** Starts one system for all tests of a file. */
export function replicatedSystem(workers: number): () => ReplicatedSystem {
  let system: ReplicatedSystem | undefined
  const teardown: (() => unknown)[] = []
  beforeAll(async () => {
    system = await startReplicated(workers, (one) => teardown.unshift(one))
  }, 300_000)
  afterAll(async () => {
    for (const one of teardown) await one()
  })
  return () => {
    if (!system) throw new Error('the system has not started')
    return system
  }
}
