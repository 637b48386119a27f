// Cost of authenticating one request: the gateway's own functions, in this process, with a real identity
// service and a real Redis.
//   npm run bench -- auth             (SECONDS=5 a point)
import { randomBytes } from 'node:crypto'
import { adminKey, environmentOf } from '../lib/admin.mjs'
import { cpuSeconds } from '../lib/cpu.mjs'
import { closedLoop, percentile } from '../lib/load.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { startIssuer } from './issuer.mjs'

const SECONDS = Number(process.env.SECONDS ?? 5)
const WARM_SECONDS = 2
const IN_FLIGHT = [1, 8, 64]
const AUDIENCE = 'bench'

const idp = await startIssuer()
Object.assign(process.env, {
  SVC_SECURITY__AUTH__ENABLED: 'true',
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: randomBytes(32).toString('hex'),
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  SVC_SECURITY__AUTH__OIDC__ENABLED: 'true',
  SVC_SECURITY__AUTH__OIDC__ISSUER: idp.url,
  SVC_SECURITY__AUTH__OIDC__AUDIENCE: AUDIENCE,
})

const points = await withSystem({ workers: 0 }, async ({ url, pids }) => {
  const key = await adminKey(environmentOf(pids.identity))
  const authenticators = await openAuthenticators(environmentOf(pids.gateway))
  await createUser(url, key)
  const jwt = idp.token('ann', AUDIENCE)
  const kinds = {
    'none (the loop alone)': async () => {},
    'API key, cached': () => authenticators.authenticateToken(key),
    'API key, uncached': () => authenticators.uncached(key),
    'JWT (RS256), account cached': () => authenticators.authenticateToken(jwt),
  }
  const measured = []
  for (const [kind, operation] of Object.entries(kinds))
    for (const inFlight of IN_FLIGHT)
      measured.push({ kind, in_flight: inFlight, ...(await cost(operation, inFlight, pids)) })
  authenticators.close()
  return measured
})
idp.stop()

table(points)
process.stdout.write(`\n${JSON.stringify({ bench: 'auth', machine: machine(), points })}\n`)

/** Measures one operation: CPU-µs in this process and in those that it calls, and latency in µs. */
async function cost(operation, inFlight, { redis, identity, postgres }) {
  await closedLoop(operation, { inFlight, seconds: WARM_SECONDS })
  const others = { redis, identity, postgres }
  const before = cpuSeconds(others)
  const own = process.cpuUsage()
  const { count, latencies } = await closedLoop(operation, { inFlight, seconds: SECONDS })
  const { user, system } = process.cpuUsage(own)
  const after = cpuSeconds(others)
  const micros = (name) => ((after[name] - before[name]) * 1e6) / count
  return {
    count,
    gateway: (user + system) / count,
    redis: micros('redis'),
    identity: micros('identity'),
    postgres: micros('postgres'),
    'p50, µs': percentile(latencies, 50) * 1_000,
    'p99, µs': percentile(latencies, 99) * 1_000,
  }
}

/** Opens the gateway's authenticators with their own connections. */
async function openAuthenticators(env) {
  const from = (path) => import(new URL(`../../${path}.ts`, import.meta.url))
  const [{ loadSettings }, { openRedis, redisReady }, { openServiceIdentity }] = await Promise.all(
    ['runtime/src/config/load-settings', 'runtime/src/redis/redis', 'rpc/src/service-identity'].map(
      (name) => from(`packages/${name}`),
    ),
  )
  const gateway = (path) => from(`services/gateway/src/${path}`)
  const { connectServices } = await gateway('clients/connect')
  const { createCaches } = await gateway('cache/create-caches')
  const { createGenerationReader } = await gateway('cache/generation-reader')
  const { createApiKeyAuthenticator } = await gateway('access/api-key')
  const { createTokenAuthenticator } = await gateway('access/token-authenticator')
  const settings = loadSettings(env)
  const redis = openRedis(settings.redis.url)
  await redisReady(redis)
  const log = { warn: (fields) => process.stderr.write(`${JSON.stringify(fields)}\n`) }
  const closers = []
  const teardown = { add: (_, close) => closers.push(close) }
  const runtime = { log, readiness: { add() {} }, teardown }
  const identity = await openServiceIdentity(settings, 'gateway', runtime)
  const clients = connectServices(settings, identity)
  const readAuth = createGenerationReader(redis, 'auth')
  const { getAccount } = createCaches(settings.workers, {
    ...clients,
    readAuth,
    readCatalog: readAuth,
  })
  const deps = { ...clients, getAccount, readAuth, log }
  return {
    authenticateToken: createTokenAuthenticator(settings.security.auth.oidc, deps),
    // Reads the generation and then ignores it, so that every request calls identity.
    uncached: createApiKeyAuthenticator(clients.keys, async () => void (await readAuth())),
    close() {
      clients.close()
      for (const close of closers) close()
      redis.disconnect()
    },
  }
}

async function createUser(url, key) {
  const response = await fetch(`${url}/admin/principals`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      type: 'user',
      subject: 'ann',
      external_issuer: idp.url,
      roles: ['viewer'],
    }),
  })
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`)
}
