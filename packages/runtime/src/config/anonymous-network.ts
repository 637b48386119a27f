import { isIPv4 } from 'node:net'
import { ConfigError } from './config-error.ts'
import type { Settings } from './settings.ts'

/**
 * Throws if authentication is off and this host is not loopback, because everyone on the network could then
 * upload and run code. `setting` is the name of the host's setting in the error.
 */
export function requireLoopbackIfAnonymous(
  { security, server }: Settings,
  setting: '[svc.server].host' | '[svc.mcp].host',
  host: string,
): void {
  if (security.auth.enabled || server.allow_anonymous_network || isLoopback(host)) return
  throw new ConfigError(
    `${setting} is ${JSON.stringify(host)} and authentication is off: everyone who can reach this address could upload and run code. Turn authentication on ([svc.security.auth].enabled), listen on 127.0.0.1, or set [svc.server].allow_anonymous_network = true.`,
  )
}

const isLoopback = (host: string): boolean =>
  host.toLowerCase() === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
