import { existsSync } from 'node:fs'
import path from 'node:path'
import { PROJECT } from './data-dir.mjs'
import { run } from './run.mjs'
import { Stamp } from './stamp.mjs'

const PNPM_VERSION = '10.34.9'
const OLDEST_NODE = [20, 19]

/** Throws unless this Node is new enough. */
export function checkNode(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST_NODE
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return
  throw new Error(`Windlass needs Node.js ${OLDEST_NODE.join('.')} or newer; this is ${version}.`)
}

/** Installs the project's packages as the lock file has them, if it changed since the last time. */
export async function installPackages({ dir, progress }) {
  const sources = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', '.npmrc']
  const stamp = new Stamp(path.join(PROJECT, 'node_modules/.windlass-stamp'), {
    files: sources.map((name) => path.join(PROJECT, name)),
    facts: [process.versions.modules, PNPM_VERSION],
  })
  if (stamp.matches()) return
  const pnpm = await ensurePnpm({ dir, progress })
  await progress.step('Installing Node packages (pnpm install)', (tell) => {
    // without a terminal pnpm fails instead of asking whether to replace node_modules
    const args = ['install', '--frozen-lockfile', '--config.confirm-modules-purge=false']
    return run(process.execPath, [pnpm, ...args], { cwd: PROJECT, onLine: tell })
  })
  stamp.set()
}

/** Compiles and bundles incrementally, as `npm run build` does. */
export async function build({ progress }) {
  const steps = [
    ['node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json'],
    ['scripts/bundle.mjs'],
  ]
  await progress.step('Building', async (tell) => {
    for (const step of steps) await run(process.execPath, step, { cwd: PROJECT, onLine: tell })
  })
}

/** Installs pnpm in the data directory: never globally, and not by corepack, whose signatures are outdated. */
async function ensurePnpm({ dir, progress }) {
  const tools = path.join(dir, `tools/pnpm-${PNPM_VERSION}`)
  const pnpm = path.join(tools, 'node_modules/pnpm/bin/pnpm.cjs')
  if (existsSync(pnpm)) return pnpm
  await progress.step(`Fetching pnpm ${PNPM_VERSION}`, (tell) => {
    const flags = ['--no-audit', '--no-fund', '--no-save', '--loglevel=error']
    const args = ['install', '--prefix', tools, ...flags, `pnpm@${PNPM_VERSION}`]
    return run('npm', args, { cwd: dir, onLine: tell })
  })
  return pnpm
}
