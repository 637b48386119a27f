// @ts-check
// Prepares a fresh clone for the scripts in TypeScript, which it is loaded before:
//   node --import ./scripts/bootstrap.mjs scripts/start.ts
// It is plain JavaScript and uses modules of Node alone, because it runs before a package is installed
// and on versions of Node that cannot strip types. It checks the version of Node, installs the packages
// that the lock file names, and registers a loader for TypeScript where Node has none.
import { installPackages } from './bootstrap/node-packages.mjs'
import { requireNode } from './bootstrap/require-node.mjs'
import { stripsTypes } from './bootstrap/strips-types.mjs'

try {
  requireNode()
  await installPackages()
} catch (error) {
  process.stderr.write(`\n${/** @type {Error} */ (error).message}\n`)
  process.exit(1)
}
if (!stripsTypes) (await import('tsx/esm/api')).register()
