import { loadSettings } from '@windlass/runtime/config/load-settings'
import type { CommandContext, ParsedArguments } from './command.ts'

/**
 * The base URL of the server to call: --server-url, else `[svc.workers].server_url`, else the system
 * that `npm start` runs from this clone, else the address in `[svc.server]`.
 */
export async function findServerUrl(
  { options }: ParsedArguments,
  { env, findRunningServer }: CommandContext,
): Promise<string> {
  const { workers, server } = loadSettings(env)
  const configured = options['server-url'] ?? workers.server_url
  if (configured !== undefined) return String(configured)
  return (await findRunningServer()) ?? `http://${toReachableHost(server.host)}:${server.port}`
}

/** A server that listens on every address is reached at the loopback address. */
const toReachableHost = (host: string) => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host)
