import { loadSettings } from '@windlass/runtime/config/load-settings'
import { type CommandContext, type ParsedArguments, UsageError } from './command.ts'

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
  if (configured !== undefined) return requireServerUrl(String(configured))
  return (await findRunningServer()) ?? `http://${toReachableHost(server.host)}:${server.port}`
}

function requireServerUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) {
    requireNoPassword(url, 'the server', 'SVC_AUTH_TOKEN')
    return url
  }
  throw new UsageError(`'${url}' is not the URL of a server; use http://HOST:PORT or https://HOST`)
}

/** A server that listens on every address is reached at the loopback address. */
const toReachableHost = (host: string) => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host)

/** Refuses credentials in a URL, which errors about the URL would show; they belong into a variable. */
export function requireNoPassword(url: string, what: string, variable: string): void {
  const { username, password } = new URL(url)
  if (username === '' && password === '') return
  throw new UsageError(
    `the URL of ${what} must not contain a user name or password; set ${variable} instead`,
  )
}
