import { ConfigError } from '@windlass/runtime/config/config-error'
import type { Settings } from '@windlass/runtime/config/settings'
import { readServerTls, type ServerTls } from '@windlass/runtime/tls/server-tls'

/** Requires all three files or none: a partial set would leave one direction unencrypted. */
export async function readRpcTls(rpc: Settings['rpc']): Promise<ServerTls | undefined> {
  const { tls_ca, tls_cert, tls_key } = rpc
  const given = { tls_ca, tls_cert, tls_key }
  const missing = Object.entries(given).filter(([, path]) => path === undefined)
  if (missing.length === 3) return undefined
  if (missing.length > 0)
    throw new ConfigError(`[svc.rpc] needs ${missing.map(([name]) => name).join(' and ')} too`)
  return readServerTls('[svc.rpc]', { tls_cert, tls_key, client_ca: tls_ca })
}
