import { execFileSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { commandOf } from '../../packages/runtime/src/process/pids.ts'
import { isRoot } from '../bootstrap/data-dir.mjs'
import { postgresFolders } from '../setup/programs.ts'
import { run } from '../setup/run.ts'

interface ClusterOptions {
  /** Name of the database and of its owner. */
  name: string
  password: string
  durable: boolean
}

interface UserIds {
  uid: number
  gid: number
}

/**
 * Returns the database cluster of a data directory and creates it if missing: its folders, the programs
 * of its version, and the operating system user that must run them (undefined: the current user).
 */
export async function cluster(dir: string, options: ClusterOptions) {
  const home = path.join(dir, 'postgres')
  const data = path.join(home, 'data')
  const user = isRoot ? idsOf('postgres') : undefined // PostgreSQL refuses to run as root
  mkdirSync(home, { recursive: true, mode: 0o700 })
  if (user) chownSync(home, user.uid, user.gid)
  if (!existsSync(data)) await make({ home, data, user, ...options })
  forgetDeadPostmaster(data)
  return { home, data, user, bin: programsFor(data) }
}

/** Creates the cluster in a temporary folder and moves it into place when it is complete. */
async function make(
  options: ClusterOptions & { home: string; data: string; user: UserIds | undefined },
): Promise<void> {
  const { home, data, user, name, password, durable } = options
  const [bin = ''] = postgresFolders()
  const draft = path.join(home, 'draft')
  const passwordFile = path.join(home, 'password')
  rmSync(draft, { recursive: true, force: true })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) chownSync(passwordFile, user.uid, user.gid)
  const identity = ['-U', name, `--pwfile=${passwordFile}`, '-A', 'scram-sha-256']
  const args = [
    '-D',
    draft,
    ...identity,
    '-E',
    'UTF8',
    '--locale=C',
    ...(durable ? [] : ['--no-sync']),
  ]
  try {
    await run(path.join(bin, 'initdb'), args, { cwd: home, ...user })
  } finally {
    rmSync(passwordFile, { force: true })
  }
  execFileSync(path.join(bin, 'postgres'), ['--single', '-D', draft, 'postgres'], {
    cwd: home,
    ...user,
    input: `create database ${name}\n`,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  renameSync(draft, data)
}

/** Returns the programs of the version that created the data; other versions cannot read it. */
function programsFor(data: string): string {
  const version = readFileSync(path.join(data, 'PG_VERSION'), 'utf8').trim()
  const bin = postgresFolders().find((folder) => majorOf(folder) === version)
  if (bin) return bin
  throw new Error(
    `The data in ${data} was made by PostgreSQL ${version}, which is not installed any more.\n` +
      'Install that version, or delete the folder to start with an empty database.',
  )
}

function majorOf(folder: string): string | undefined {
  const version = execFileSync(path.join(folder, 'postgres'), ['--version'], { encoding: 'utf8' })
  return /\b(\d+)/.exec(version)?.[1]
}

/** Removes a stale pid file: after a crash its pid may belong to another process, and PostgreSQL would refuse to start. */
function forgetDeadPostmaster(data: string): void {
  const file = path.join(data, 'postmaster.pid')
  if (!existsSync(file)) return
  const [pid = ''] = readFileSync(file, 'utf8').split('\n')
  if (!commandOf(pid).includes(data)) rmSync(file)
}

function idsOf(user: string): UserIds {
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
