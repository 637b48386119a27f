import path from 'node:path'
import { PROJECT, secret } from './data-dir.mjs'

const load = (name) => import(path.join(PROJECT, 'packages/runtime/dist', `${name}.js`))

/**
 * The keys that one service shares with others, as environment, from a secret that no service sees;
 * nothing where the user has set keys or a secret.
 */
export async function rpcEnv(service, dir) {
  const [{ loadSettings }, { keysOf }] = await Promise.all([load('config'), load('rpc-keys')])
  const { rpc } = loadSettings()
  if (rpc.secret !== undefined || rpc.keys.length > 0) return {}
  return { SVC_RPC__KEYS: keysOf(secret(dir, 'rpc-secret', 32), service).join(',') }
}
