// The entry point of the image: `gateway`, `migrate executions`, `all`, `windlass admin create-key`.
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const SERVICES = ['gateway', 'identity', 'catalog', 'executions', 'dispatcher', 'scheduler', 'mcp']
const MIGRATED = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler']

const file = programOf(process.argv.slice(2))
if (file === undefined) {
  process.stderr.write(
    `usage: one of ${SERVICES.join(', ')}; migrate with one of ${MIGRATED.join(', ')}; all; or windlass and its arguments\n`,
  )
  process.exit(2)
}
if (!existsSync(file)) throw new Error(`the image is incomplete: ${file.pathname} is missing`)
// Of the build (compile.mjs); not used by another version or architecture of Node, nor by another user.
module.enableCompileCache?.(fileURLToPath(inImage('compile-cache')))
await import(file.href)

/** The program that these arguments name; undefined if they name none. */
function programOf([name, ...args]) {
  if (name === 'windlass') {
    process.argv.splice(2, 1)
    return inImage('packages/cli/bin/windlass.mjs')
  }
  if (name === 'all' && args.length === 0) return inImage('all.mjs')
  if (name === 'migrate' && args.length === 1 && MIGRATED.includes(args[0]))
    return inImage(`services/${args[0]}/dist/migrate.js`)
  if (SERVICES.includes(name) && args.length === 0) return inImage(`services/${name}/dist/main.js`)
  return undefined
}

function inImage(name) {
  return new URL(name, import.meta.url)
}
