// Runs the system of the checkout that the first argument names, until the channel to its parent closes. The second
// argument is `true` for all services in one process.
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [tree, single] = process.argv.slice(2)
const system = pathToFileURL(path.join(tree, 'bench/lib/system.mjs'))
const { withSystem } = await import(system.href)
const ended = new Promise((resolve) => process.once('disconnect', resolve))
const options = { workers: 1, singleProcess: single === 'true' }
await withSystem(options, async ({ url, pids }) => {
  process.send({ url, pids })
  await ended
})
