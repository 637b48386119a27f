// All services in one process, for one machine: `npm start -- --single-process`. scripts/bundle.ts makes it
// one file. It reads the environment of each service as JSON from file descriptor 3, so that each has
// the settings and secrets that a process of its own would have, and no other one shows them.
import { readFileSync } from 'node:fs'
import type { Settings } from '../../packages/runtime/src/config/settings.ts'
import type { Runtime } from '../../packages/runtime/src/process/main.ts'
import { type Environments, mainOfAll } from '../../packages/runtime/src/process/main-of-all.ts'
import { start as startCatalog } from '../../services/catalog/src/server.ts'
import { start as startDispatcher } from '../../services/dispatcher/src/server.ts'
import { start as startExecutions } from '../../services/executions/src/server.ts'
import { start as startGateway } from '../../services/gateway/src/server.ts'
import { start as startIdentity } from '../../services/identity/src/server.ts'
import { start as startMcp } from '../../services/mcp/src/server.ts'
import { start as startScheduler } from '../../services/scheduler/src/server.ts'

const ENVIRONMENTS_FD = 3

/** Code of worker threads, which is next to the program of its service. */
const threadOf = (service: string, name: string) =>
  new URL(`../../../services/${service}/dist/${name}.worker.js`, import.meta.url)

const catalog = (settings: Settings, runtime: Runtime) =>
  startCatalog(settings, runtime, threadOf('catalog', 'analysis'))
const gateway = (settings: Settings, runtime: Runtime) =>
  startGateway(settings, runtime, threadOf('gateway', 'body'))

await mainOfAll(
  [
    { name: 'identity', start: startIdentity, tier: 1 },
    { name: 'catalog', start: catalog, tier: 1 },
    { name: 'executions', start: startExecutions, tier: 1 },
    { name: 'scheduler', start: startScheduler, tier: 2 },
    { name: 'dispatcher', start: startDispatcher, tier: 2 },
    { name: 'gateway', start: gateway, tier: 3 },
    { name: 'mcp', start: startMcp, tier: 3 },
  ],
  () => JSON.parse(readFileSync(ENVIRONMENTS_FD, 'utf8')) as Environments,
)
