import { rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { prepare } from '../../scripts/bootstrap/data-dir.mjs'
import { Processes } from '../../scripts/process/processes.ts'
import { build } from '../../scripts/setup/build.ts'
import { Progress } from '../../scripts/setup/progress.ts'
import { startInfra, testEnv } from '../../scripts/stores/infra.ts'
import { temporaryDir } from '../../scripts/testing/temporary-dir.ts'

const SERVICES = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler', 'gateway', 'mcp']

/**
 * Starts a system with several replicas of services behind a balancer in this process, and durable stores; passes
 * it to `work`, and always stops it. TREE names a built checkout of another commit, to compare with. `pids` lists the processes of each service and store by its name.
 */
export async function withReplicas(replicas, work) {
  const dir = prepare(temporaryDir())
  const processes = new Processes(dir)
  const progress = new Progress(process.stderr)
  const teardown = []
  const defer = (one) => teardown.unshift(one)
  try {
    await build({ dir, progress })
    // They load packages that were just built.
    const { startSystem } = await import('../../packages/testkit/src/system.ts')
    const { startPrivateNats } = await import('../../packages/testkit/src/private-nats.ts')
    const infra = await startInfra({ processes, dir, progress, prefixes: ['', '*'] })
    const nats = await startPrivateNats(defer)
    const urls = { ...testEnv(infra), TEST_NATS_URL: nats.url }
    Object.assign(process.env, urls)
    const { TREE } = process.env
    const root = TREE && { root: pathToFileURL(`${TREE}/`) }
    const system = await startSystem({
      ...{ replicas, workers: 0, infra: urls, env: STEADY, defer },
      ...root,
    })
    const services = SERVICES.map((name) => [name, system.of(name).map(({ pid }) => pid)])
    const stores = { postgres: [infra.postgres.child.pid], redis: [infra.redis.child.pid] }
    const pids = { ...Object.fromEntries(services), ...stores, nats: [nats.pid()] }
    return await work({ url: system.url, home: system.home, pids, nats, infra })
  } finally {
    for (const one of teardown) await one()
    await processes.stopAll()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Heartbeats of the product; those of the test system are far shorter. */
const STEADY = {
  SVC_WORKERS__HEARTBEAT_INTERVAL: '10',
  SVC_WORKERS__HEARTBEAT_TIMEOUT: '30',
  SVC_WORKERS__EVICTION_GRACE_PERIOD: '10',
}
