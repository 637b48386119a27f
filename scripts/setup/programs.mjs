import { accessSync, constants, readdirSync } from 'node:fs'
import path from 'node:path'

const DEBIAN_POSTGRES = '/usr/lib/postgresql'
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin']

/** Full path of a program on PATH or in the usual folders, or undefined. */
export function findProgram(name, folders = []) {
  const onPath = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean)
  const places = [...folders, ...onPath, ...MORE_FOLDERS].map((folder) => path.join(folder, name))
  return places.find(canRun)
}

/** Full path of a Chromium, or undefined. */
export const findChromium = () => findProgram('chromium') ?? findProgram('chromium-browser')

/** Folders with PostgreSQL's own programs, newest version first; Debian keeps them off PATH. */
export function postgresFolders() {
  const found = postgresVersions().map((version) => path.join(DEBIAN_POSTGRES, version, 'bin'))
  const onPath = findProgram('initdb')
  const all = onPath ? [...found, path.dirname(onPath)] : found
  return all.filter((folder) => canRun(path.join(folder, 'initdb')))
}

function postgresVersions() {
  try {
    return readdirSync(DEBIAN_POSTGRES).sort((a, b) => Number(b) - Number(a))
  } catch {
    return []
  }
}

function canRun(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
