import path from 'node:path'
import type { Settings } from '../../packages/runtime/src/config/settings.ts'
import { PROJECT } from '../bootstrap/data-dir.mjs'
import { secret } from '../setup/secrets.ts'

type StartSettings = typeof import('../programs/start-settings.ts')

async function load(): Promise<StartSettings['startSettings']> {
  const program: StartSettings = await import(path.join(PROJECT, 'dist/scripts/start-settings.js'))
  return program.startSettings
}

/**
 * The settings of svc.toml and of the environment, checked; the programs must be built. Throws when
 * authentication is on without its two secrets: no service gets both, so none can check both.
 * `auth` turns authentication on, with secrets of the data directory where none are set.
 */
export async function readSettings({ auth = false } = {}): Promise<Settings> {
  const { loadSettings, requireAuthSecrets, requireLoopbackIfAnonymous } = await load()
  const settings = loadSettings()
  if (auth) settings.security.auth.enabled = true
  else requireAuthSecrets(settings)
  requireLoopbackIfAnonymous(settings, '[svc.server].host', settings.server.host)
  requireLoopbackIfAnonymous(settings, '[svc.mcp].host', settings.mcp.host)
  return settings
}

/**
 * The keys that one service shares with others, as environment, from a secret that no service gets.
 * Keys that the user has set, and a secret in svc.toml, are read by the services themselves.
 */
export async function rpcEnv(service: string, dir: string): Promise<NodeJS.ProcessEnv> {
  const { loadSettings, keysOf } = await load()
  const { rpc } = loadSettings()
  const { SVC_CONFIG } = process.env
  if (rpc.keys.length > 0 || loadSettings({ SVC_CONFIG }).rpc.secret !== undefined) return {}
  const common = rpc.secret ?? secret(dir, 'rpc-secret', 32)
  return { SVC_RPC__KEYS: keysOf(common, service).join(',') }
}
