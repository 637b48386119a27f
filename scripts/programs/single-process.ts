// All services in one process, for one machine: `npm start -- --single-process`. scripts/bundle.ts makes it
// one file. It reads the environment of each service as JSON from file descriptor 3, so that each has
// the settings and secrets that a process of its own would have, and no other one shows them.
import { readFileSync } from 'node:fs'
import { type Environments, mainOfAll } from '../../packages/runtime/src/process/main-of-all.ts'
import { start as startCatalog } from '../../services/catalog/src/server.ts'
import { start as startDispatcher } from '../../services/dispatcher/src/server.ts'
import { start as startExecutions } from '../../services/executions/src/server.ts'
import { start as startGateway } from '../../services/gateway/src/server.ts'
import { start as startIdentity } from '../../services/identity/src/server.ts'
import { start as startMcp } from '../../services/mcp/src/server.ts'
import { start as startScheduler } from '../../services/scheduler/src/server.ts'

const ENVIRONMENTS_FD = 3

await mainOfAll(
  [
    { name: 'identity', start: startIdentity, tier: 1 },
    { name: 'catalog', start: startCatalog, tier: 1 },
    { name: 'executions', start: startExecutions, tier: 1 },
    { name: 'scheduler', start: startScheduler, tier: 2 },
    { name: 'dispatcher', start: startDispatcher, tier: 2 },
    { name: 'gateway', start: startGateway, tier: 3 },
    { name: 'mcp', start: startMcp, tier: 3 },
  ],
  () => JSON.parse(readFileSync(ENVIRONMENTS_FD, 'utf8')) as Environments,
)
