import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { storeUrl, testUrl } from '@windlass/testkit/database'
import type { Defer } from '@windlass/testkit/defer'
import { LossyLink } from '@windlass/testkit/lossy-link'
import { startAuthSystem } from './auth-system.ts'
import { cycles, type Tally } from './revocation-cycles.ts'

/** Opens a link between a gateway and a store that can be cut. */
async function storeLink(store: Parameters<typeof testUrl>[0], defer: Defer) {
  const url = new URL(storeUrl(testUrl(store), 'gateway'))
  const link = await LossyLink.to(Number(url.port))
  defer(() => link.stop())
  url.port = String(link.port)
  return { url: url.href, cut: () => link.cutAfter(0), heal: () => link.heal() }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Runs revocation cycles against three gateways under repeated faults of NATS, Redis and identity. */
export async function runRevocationFaults(
  defer: Defer,
  seconds: number,
): Promise<Tally & { faults: number }> {
  const nats = await storeLink('TEST_NATS_URL', defer)
  const redisLink = await storeLink('TEST_REDIS_URL', defer)
  const auth = await startAuthSystem(defer, {
    singleProcess: false,
    replicas: { gateway: 3, identity: 2 },
    envOf: (service, i): Record<string, string> => {
      if (service !== 'gateway') return {}
      return [{ SVC_NATS__URL: nats.url }, { SVC_REDIS__URL: redisLink.url }][i] ?? {}
    },
  })
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  defer(() => redis.disconnect())
  await redisReady(redis)

  const identities = auth.system.of('identity')
  const faults = [
    () => redis.flushdb(),
    async () => {
      nats.cut()
      await pause(1_000)
      nats.heal()
    },
    () => identities[0]?.restart('SIGKILL'),
    async () => {
      redisLink.cut()
      await pause(700)
      redisLink.heal()
    },
    () => redis.flushdb(),
    () => identities[1]?.restart('SIGKILL'),
  ]
  let faultCount = 0
  let isOver = false
  const injecting = (async () => {
    while (!isOver) {
      await pause(600)
      if (!isOver) await faults[faultCount++ % faults.length]?.()
    }
  })()
  const tally = await cycles(auth, seconds)
  isOver = true
  await injecting
  return { ...tally, faults: faultCount }
}
