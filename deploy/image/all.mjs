// All services in one process, after their migrations: for tests and trials, not for production. They share one
// role in PostgreSQL and one user of NATS and Redis, those of SVC_POSTGRES__URL, SVC_NATS__URL and SVC_REDIS__URL.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'

const MIGRATED = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler']
const SERVICES = [...MIGRATED, 'gateway', 'mcp']
const FIRST_PORT = 9_000
const STREAM_PORT = 9_010
const secret = () => randomBytes(32).toString('hex')

for (const service of MIGRATED) {
  const { status } = spawnSync(process.execPath, [inImage(`services/${service}/dist/migrate.js`)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) process.exit(1)
}

const ports = Object.fromEntries(MIGRATED.map((service, i) => [service, FIRST_PORT + i]))
const common = {
  SVC_RPC__SECRET: secret(),
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: secret(),
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: secret(),
  ...process.env,
  ...Object.fromEntries(
    MIGRATED.map((service) => [
      `SVC_SERVICES__${service.toUpperCase()}`,
      `127.0.0.1:${ports[service]}`,
    ]),
  ),
  SVC_SERVICES__DISPATCHER_STREAMS: `http://127.0.0.1:${STREAM_PORT}`,
  SVC_DISPATCHER__STREAM_PORT: String(STREAM_PORT),
  SVC_LISTEN__HOST: '127.0.0.1',
}
/** The gateway answers for all at the port of the health check. */
const environmentOf = (service) => ({
  ...common,
  SVC_LISTEN__PORT: String(ports[service] ?? 0),
  SVC_ADMIN__PORT: service === 'gateway' ? (process.env.SVC_ADMIN__PORT ?? '0') : '0',
})

const environments = Object.fromEntries(SERVICES.map((name) => [name, environmentOf(name)]))
const child = spawn(process.execPath, [inImage('dist/services/all/main.js')], {
  stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
})
child.stdio[3].end(JSON.stringify(environments))
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => child.kill(signal))
child.once('exit', (code) => process.exit(code ?? 1))

function inImage(name) {
  return fileURLToPath(new URL(name, import.meta.url))
}
