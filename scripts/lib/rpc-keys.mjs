import path from 'node:path'
import { PROJECT, secret } from './data-dir.mjs'

const load = (file) => import(path.join(PROJECT, 'packages', file))

/**
 * The keys that one service shares with others, as environment, from a secret that no service sees;
 * nothing where the user has set keys or a secret.
 */
export async function rpcEnv(service, dir) {
  const [{ loadSettings }, { keysOf }] = await Promise.all([
    load('runtime/dist/config/load-settings.js'),
    load('rpc/dist/pair-keys.js'),
  ])
  const { rpc } = loadSettings()
  if (rpc.secret !== undefined || rpc.keys.length > 0) return {}
  return { SVC_RPC__KEYS: keysOf(secret(dir, 'rpc-secret', 32), service).join(',') }
}
