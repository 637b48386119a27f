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
import { commandOf } from '../process/pids.mjs'
import { isRoot } from '../setup/data-dir.mjs'
import { postgresFolders } from '../setup/programs.mjs'
import { run } from '../setup/run.mjs'

/**
 * Returns the database cluster of a data directory and creates it if missing: its folders, the programs
 * of its version, and the operating system user that must run them (undefined: the current user).
 */
export async function cluster(dir, { name, password, durable }) {
  const home = path.join(dir, 'postgres')
  const data = path.join(home, 'data')
  const user = isRoot ? idsOf('postgres') : undefined // PostgreSQL refuses to run as root
  mkdirSync(home, { recursive: true, mode: 0o700 })
  if (user) chownSync(home, user.uid, user.gid)
  if (!existsSync(data)) await make({ home, data, user, name, password, durable })
  forgetDeadPostmaster(data)
  return { home, data, user, bin: programsFor(data) }
}

/** Creates the cluster in a temporary folder and moves it into place when it is complete. */
async function make({ home, data, user, name, password, durable }) {
  const bin = postgresFolders()[0]
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
  const options = {
    cwd: home,
    ...user,
    input: `create database ${name}\n`,
    stdio: ['pipe', 'ignore', 'pipe'],
  }
  execFileSync(path.join(bin, 'postgres'), ['--single', '-D', draft, 'postgres'], options)
  renameSync(draft, data)
}

/** Returns the programs of the version that created the data; other versions cannot read it. */
function programsFor(data) {
  const version = readFileSync(path.join(data, 'PG_VERSION'), 'utf8').trim()
  const bin = postgresFolders().find((folder) => majorOf(folder) === version)
  if (bin) return bin
  throw new Error(
    `The data in ${data} was made by PostgreSQL ${version}, which is not installed any more.\n` +
      'Install that version, or delete the folder to start with an empty database.',
  )
}

function majorOf(folder) {
  const version = execFileSync(path.join(folder, 'postgres'), ['--version'], { encoding: 'utf8' })
  return /\b(\d+)/.exec(version)?.[1]
}

/** Removes a stale pid file: after a crash its pid may belong to another process, and PostgreSQL would refuse to start. */
function forgetDeadPostmaster(data) {
  const file = path.join(data, 'postmaster.pid')
  if (!existsSync(file)) return
  const pid = readFileSync(file, 'utf8').split('\n')[0]
  if (!commandOf(pid).includes(data)) rmSync(file)
}

function idsOf(user) {
  const id = (flag) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
