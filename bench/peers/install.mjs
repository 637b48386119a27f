import { execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { projectDataDir } from '../../scripts/bootstrap/data-dir.mjs'
import { Stamp } from '../../scripts/bootstrap/stamp.mjs'

const RESTATE_SERVER = '@restatedev/restate-server@1.7.12'
/** The newest version of which the Go module proxy has all modules. */
const TEMPORAL_CLI = 'github.com/temporalio/cli/cmd/temporal@v1.5.1'
const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url))

/**
 * Installs the SDKs and servers of the peers in the data directory, from package registries. Returns the python
 * of their environment, the folder of the packages of npm, and their versions.
 */
export function installPeers() {
  const dir = path.join(projectDataDir(), 'peers')
  const python = path.join(dir, 'venv/bin/python')
  const stamp = new Stamp(path.join(dir, '.installed'), {
    files: [REQUIREMENTS],
    facts: [RESTATE_SERVER],
  })
  if (!stamp.matches()) {
    const run = (command, ...args) => execFileSync(command, args, { stdio: ['ignore', 2, 2] })
    if (!existsSync(python)) run('python3', '-m', 'venv', path.join(dir, 'venv'))
    run(python, '-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS)
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    run('npm', 'install', '--prefix', dir, ...flags, RESTATE_SERVER)
    stamp.set()
  }
  return { python, restate: restateIn(dir), temporal: temporalIn(dir) }
}

/**
 * Returns Temporal's command line, which has its development server: TEMPORAL_CLI, or `temporal` on the PATH, or
 * built here, which takes about seven minutes of processor time once. Undefined if Go is missing or fails.
 */
function temporalIn(dir) {
  const onPath = process.env.TEMPORAL_CLI ?? 'temporal'
  if (answers(onPath, '--version')) return onPath
  const built = path.join(dir, 'bin/temporal')
  const stamp = new Stamp(path.join(dir, 'bin/.installed'), { facts: [TEMPORAL_CLI] })
  if (stamp.matches()) return built
  if (!answers('go', 'version')) return undefined
  process.stderr.write(`Building ${TEMPORAL_CLI}, about seven minutes of processor time\n`)
  const modules = path.join(dir, 'go')
  const env = {
    ...process.env,
    ...{ GOBIN: path.dirname(built), GOPATH: modules, GOCACHE: path.join(modules, 'cache') },
    ...{ GOFLAGS: '-modcacherw', CGO_ENABLED: '0' },
  }
  try {
    execFileSync('go', ['install', TEMPORAL_CLI], { stdio: ['ignore', 2, 2], env })
  } catch {
    return undefined
  } finally {
    rmSync(modules, { recursive: true, force: true })
  }
  stamp.set()
  return built
}

function answers(command, argument) {
  try {
    execFileSync(command, [argument], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function restateIn(dir) {
  const platform = `${process.platform}-${process.arch}`
  return path.join(dir, `node_modules/@restatedev/restate-server-${platform}/bin/restate-server`)
}
