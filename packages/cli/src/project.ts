import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadSettings } from '@windlass/runtime/config/load-settings'
import { Settings } from '@windlass/runtime/config/settings'
import { findServer } from '@windlass/runtime/process/server-file'

const ROOT = new URL('../../../', import.meta.url)

/** The URL of a file of this clone. */
export const projectFile = (path: string): URL => new URL(path, ROOT)

/** The data directory of this clone, as `npm start` determines it; undefined outside of a clone. */
export async function findDataDir(): Promise<string | undefined> {
  const script = projectFile('scripts/bootstrap/data-dir.mjs')
  if (!existsSync(script)) return undefined
  const { projectDataDir } = (await import(script.href)) as { projectDataDir(): string }
  return projectDataDir()
}

/** The URL of the system that `npm start` runs from this clone, or undefined if none runs. */
export async function findRunningServer(dir?: string): Promise<string | undefined> {
  const data = dir ?? (await findDataDir())
  return data === undefined ? undefined : findServer(data)
}

/** The home directory: the configured one, else that of the server that `npm start` runs. */
export async function findHomeDir(env: NodeJS.ProcessEnv): Promise<string> {
  const { home } = loadSettings(env)
  const isDefault = home === Settings.parse({}).home
  const data = isDefault ? await findDataDir() : undefined
  return data === undefined ? home : join(data, 'home')
}

/** Adds the database URL to an environment: the configured one, else that of the database that `npm start` runs. */
export async function toDatabaseEnv(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const isDefault = loadSettings(env).postgres.url === Settings.parse({}).postgres.url
  const data = isDefault ? await findDataDir() : undefined
  const path = data === undefined ? '' : join(data, 'secrets/postgres-url')
  return existsSync(path) ? { ...env, SVC_POSTGRES__URL: readFileSync(path, 'utf8') } : env
}

/** Adds the encryption key too, if the database is that of `npm start` and no key is configured. */
export async function toIdentityEnv(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const database = await toDatabaseEnv(env)
  const isConfigured = loadSettings(env).security.encryption.encryption_key !== undefined
  const data = isConfigured || database === env ? undefined : await findDataDir()
  const path = data === undefined ? '' : join(data, 'secrets/encryption-key')
  return existsSync(path)
    ? { ...database, SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: readFileSync(path, 'utf8') }
    : database
}
