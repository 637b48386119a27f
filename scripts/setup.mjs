// `node scripts/setup.mjs`: installs what the checks need and prints the path of the Python to use.
import './bootstrap.mjs'

await import('./setup.ts')
