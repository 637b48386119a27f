// Fills the folder of compiled code of the image, as the user that runs it; the build does it once:
//   node compile.mjs          all services, one after the other
//   node compile.mjs SERVICE  one: loads its program, which then waits for stores that are not there, and ends
import { spawnSync } from 'node:child_process'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const SERVICES = ['gateway', 'identity', 'catalog', 'executions', 'dispatcher', 'scheduler', 'mcp']
/** By then the program has loaded, also on a busy machine. */
const LOAD_MS = 5_000
/** No server: nothing listens on port 1. */
const ABSENT = {
  SVC_CONFIG: '/dev/null',
  SVC_POSTGRES__URL: 'postgres://none@127.0.0.1:1/none',
  SVC_NATS__URL: 'nats://127.0.0.1:1',
  SVC_REDIS__URL: 'redis://127.0.0.1:1',
  SVC_RPC__SECRET: 'for the start of a program alone',
  SVC_LOG_LEVEL: 'silent',
  // With the addresses of the image, a service without authentication refuses to start.
  SVC_SERVER__HOST: '127.0.0.1',
  SVC_MCP__HOST: '127.0.0.1',
}

const [service] = process.argv.slice(2)
if (service === undefined)
  for (const one of SERVICES) {
    const env = { ...process.env, ...ABSENT }
    const options = { env, stdio: ['ignore', 'ignore', 'inherit'] }
    const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), one], options)
    if (status !== 0) throw new Error(`the program of ${one} could not be loaded`)
  }
else {
  // Earlier versions of Node have no such folder.
  module.enableCompileCache?.(fileURLToPath(new URL('compile-cache', import.meta.url)))
  setTimeout(() => {
    module.flushCompileCache?.()
    // Loaded is enough: a service that has failed to start has set another code.
    process.exit(0)
  }, LOAD_MS)
  await import(new URL(`services/${service}/dist/main.js`, import.meta.url).href)
}
