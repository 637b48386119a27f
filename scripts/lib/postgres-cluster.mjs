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
import { isRoot } from './data-dir.mjs'
import { commandOf } from './pids.mjs'
import { postgresFolders } from './programs.mjs'
import { run } from './run.mjs'

/**
 * The database cluster of a data directory, made if it is not there: its folders, the programs of
 * its version, and the operating system's user that must run them (undefined: ourselves).
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

/** Makes the cluster beside its place and moves it there when it is whole. */
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

/** The programs of the version that made the data; those of another cannot read it. */
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

/** After a crash the old pid may belong to a stranger, for whose sake PostgreSQL would not start. */
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
