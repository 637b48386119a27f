// @ts-check
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { PROJECT, projectDataDir } from './data-dir.mjs'
import { Stamp } from './stamp.mjs'

const PNPM_VERSION = '10.34.9'
const SOURCES = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', '.npmrc']
/** @type {NodeJS.Signals[]} */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
const INTERRUPTED = 130

/** Flags of `npm install` for a tool in a folder of its own. */
export const NPM_FLAGS = ['--no-audit', '--no-fund', '--no-save', '--loglevel=error']

/** Installs the project's packages as the lock file has them, if it changed since the last time. */
export async function installPackages() {
  const stamp = new Stamp(path.join(PROJECT, 'node_modules/.windlass-stamp'), {
    files: SOURCES.map((name) => path.join(PROJECT, name)),
    facts: [PNPM_VERSION],
  })
  if (stamp.matches()) return
  const pnpm = await ensurePnpm()
  process.stderr.write('Installing Node packages (pnpm install)\n')
  // without a terminal pnpm fails instead of asking whether to replace node_modules
  const args = ['install', '--frozen-lockfile', '--config.confirm-modules-purge=false']
  await run(process.execPath, [pnpm, ...args, '--reporter=append-only'], PROJECT)
  stamp.set()
}

/** Installs pnpm in the data directory: never globally, and not by corepack, whose signatures are outdated. */
export async function ensurePnpm() {
  const dir = projectDataDir()
  const tools = path.join(dir, `tools/pnpm-${PNPM_VERSION}`)
  const pnpm = path.join(tools, 'node_modules/pnpm/bin/pnpm.cjs')
  if (existsSync(pnpm)) return pnpm
  process.stderr.write(`Fetching pnpm ${PNPM_VERSION}\n`)
  await run('npm', ['install', '--prefix', tools, ...NPM_FLAGS, `pnpm@${PNPM_VERSION}`], dir)
  return pnpm
}

/**
 * Runs a program with its output on stderr and without the settings of Windlass, which hold secrets.
 * A stop signal ends the program first and then this process.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 */
async function run(command, args, cwd) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^SVC_/i.test(key)))
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 2, 2] })
  let isStopped = false
  const stop = (/** @type {NodeJS.Signals} */ name) => {
    isStopped = true
    child.kill(name)
  }
  for (const name of STOP_SIGNALS) process.on(name, stop)
  /** @type {number | string | null} */
  const end = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, by) => resolve(by ?? code))
  })
  for (const name of STOP_SIGNALS) process.off(name, stop)
  if (isStopped) process.exit(INTERRUPTED)
  if (end !== 0) throw new Error(`\`${[command, ...args].join(' ')}\` failed (${end})`)
}
