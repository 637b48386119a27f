// Workers run code that users upload, so each runs under a user of its own where this process may
// choose one: it then cannot read the server's files or the memory and environment of its processes.

import { createHash } from 'node:crypto'
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { isRoot, PROJECT } from '../bootstrap/data-dir.mjs'
import { succeeds } from '../setup/run.ts'
import { workerEnv } from './environment.ts'

const FIRST_UID = 64_000
const UIDS_PER_SYSTEM = 32 // as many as the largest `--workers`
const SYSTEMS = 40 // ends below 65534, the unprivileged user of most systems

/** Imports the SDK and its dependencies; fails if this user may not read them. */
const PROBE = ['-P', '-c', 'import windlass.worker._cli']

export interface UserIds {
  uid: number
  gid: number
}

/** Folder, environment and user of one worker. */
export interface WorkerPlace {
  cwd: string
  env: NodeJS.ProcessEnv
  user: UserIds | undefined
}

interface PlaceOptions {
  dir: string
  python: string
  names: string[]
  /** Names of variables that the user passes to the workers. */
  variables: string[]
}

/**
 * Returns folder, environment and user of each worker of a data directory, `{ cwd, env, user }`, and
 * `isolated`, which is false if they share the user of the server.
 */
export async function workerPlaces({
  dir,
  python,
  names,
  variables,
}: PlaceOptions): Promise<{ places: WorkerPlace[]; isolated: boolean }> {
  const env: NodeJS.ProcessEnv = { ...workerEnv(variables), PYTHONUNBUFFERED: '1' }
  const places = names.map((name, index) => ({
    cwd: path.join(dir, 'workers', name),
    env,
    user: workerUser(dir, index),
  }))
  makeFolders(dir, places)
  if (!isRoot) return { places, isolated: false }
  const own = places.map(ownHome)
  const sdk = own[0] && (await readableSdk(dir, python, own[0]))
  if (sdk === undefined)
    return { places: places.map((place) => ({ ...place, user: undefined })), isolated: false }
  return {
    places: own.map((place) => ({ ...place, env: { ...place.env, ...sdk } })),
    isolated: true,
  }
}

function makeFolders(dir: string, places: WorkerPlace[]): void {
  const all = path.join(dir, 'workers')
  mkdirSync(all, { recursive: true })
  chmodSync(all, isRoot ? 0o711 : 0o700)
  for (const { cwd, user } of places) {
    const temporary = path.join(cwd, 'tmp')
    mkdirSync(temporary, { recursive: true, mode: 0o700 })
    if (!user) continue
    for (const folder of [temporary, cwd]) chownSync(folder, user.uid, user.gid)
  }
}

const ownHome = ({ cwd, env, user }: WorkerPlace): WorkerPlace => ({
  cwd,
  user,
  env: { ...env, HOME: cwd, TMPDIR: path.join(cwd, 'tmp') },
})

/** Returns variables with which this user finds the SDK; copies the SDK if the project is closed to that user. */
async function readableSdk(
  dir: string,
  python: string,
  { cwd, env, user }: WorkerPlace,
): Promise<NodeJS.ProcessEnv | undefined> {
  const readable = (more: NodeJS.ProcessEnv) =>
    succeeds(python, PROBE, { cwd, env: { ...env, ...more }, ...user })
  if (await readable({})) return {}
  const copy = { PYTHONPATH: copySdk(dir) }
  return (await readable(copy)) ? copy : undefined
}

function copySdk(dir: string): string {
  const copy = path.join(dir, 'sdk')
  rmSync(copy, { recursive: true, force: true })
  cpSync(path.join(PROJECT, 'sdk/python/src'), copy, {
    recursive: true,
    filter: (file) => !file.endsWith('__pycache__'),
  })
  chmodSync(copy, 0o755)
  for (const entry of readdirSync(copy, { recursive: true, withFileTypes: true }))
    chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
  return copy
}

/** Returns an unprivileged user without a login for one worker; undefined if this process is not root. */
export function workerUser(dir: string, index = 0): UserIds | undefined {
  if (!isRoot) return undefined
  const hash = createHash('sha256').update(dir).digest().readUInt32BE(0)
  const id = FIRST_UID + (hash % SYSTEMS) * UIDS_PER_SYSTEM + index
  if (isKnown(id))
    throw new Error(`cannot run a worker as user ${id}: /etc/passwd gives that id a name`)
  return { uid: id, gid: id }
}

function isKnown(id: number): boolean {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  return users.some((line) => line.split(':')[2] === String(id))
}
