import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { projectDataDir } from '../../scripts/bootstrap/data-dir.mjs'
import { Stamp } from '../../scripts/bootstrap/stamp.mjs'

const RESTATE_SERVER = '@restatedev/restate-server@1.7.12'
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
  return { python, restate: restateIn(dir) }
}

function restateIn(dir) {
  const platform = `${process.platform}-${process.arch}`
  return path.join(dir, `node_modules/@restatedev/restate-server-${platform}/bin/restate-server`)
}
