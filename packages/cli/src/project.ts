import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadSettings } from '@windlass/runtime/config/load-settings'
import { Settings } from '@windlass/runtime/config/settings'

const ROOT = new URL('../../../', import.meta.url)

/** The file of this clone with this path. */
export const fileOf = (path: string): URL => new URL(path, ROOT)

/** Where this clone keeps what it runs, as `npm start` decides it; undefined where the command is not part of a clone. */
export async function dataDir(): Promise<string | undefined> {
  const script = fileOf('scripts/lib/data-dir.mjs')
  if (!existsSync(script)) return undefined
  const { projectDataDir } = (await import(script.href)) as { projectDataDir(): string }
  return projectDataDir()
}

/** The home directory: the configured one, else the one of the server that `npm start` runs. */
export async function homeDir(env: NodeJS.ProcessEnv): Promise<string> {
  const { home } = loadSettings(env)
  const isDefault = home === Settings.parse({}).home
  const data = isDefault ? await dataDir() : undefined
  return data === undefined ? home : join(data, 'home')
}

/** The environment in which a program finds the database: the configured one, else the one that `npm start` runs. */
export async function withDatabase(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const isDefault = loadSettings(env).postgres.url === Settings.parse({}).postgres.url
  const data = isDefault ? await dataDir() : undefined
  const path = data === undefined ? '' : join(data, 'secrets/postgres-url')
  return existsSync(path) ? { ...env, SVC_POSTGRES__URL: readFileSync(path, 'utf8') } : env
}
