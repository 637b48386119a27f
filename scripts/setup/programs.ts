import { accessSync, constants, readdirSync } from 'node:fs'
import path from 'node:path'

const DEBIAN_POSTGRES = '/usr/lib/postgresql'
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin']

/** Full path of a program on PATH or in the usual folders, or undefined. */
export function findProgram(name: string, folders: string[] = []): string | undefined {
  const onPath = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean)
  const places = [...folders, ...onPath, ...MORE_FOLDERS].map((folder) => path.join(folder, name))
  return places.find(canRun)
}

/** Full path of a program that is known to be installed; throws if it is not. */
export function requireProgram(name: string): string {
  const found = findProgram(name)
  if (found === undefined) throw new Error(`${name} cannot be found`)
  return found
}

/** Full path of a Chromium, or undefined. */
export const findChromium = () => findProgram('chromium') ?? findProgram('chromium-browser')

/** Folders with PostgreSQL's own programs, newest version first; Debian keeps them off PATH. */
export function postgresFolders(): string[] {
  const found = postgresVersions().map((version) => path.join(DEBIAN_POSTGRES, version, 'bin'))
  const onPath = findProgram('initdb')
  const all = onPath ? [...found, path.dirname(onPath)] : found
  return all.filter((folder) => canRun(path.join(folder, 'initdb')))
}

function postgresVersions(): string[] {
  try {
    return readdirSync(DEBIAN_POSTGRES).sort((a, b) => Number(b) - Number(a))
  } catch {
    return []
  }
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
