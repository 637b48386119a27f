import { isNetwork } from '@windlass/domain/networks'
import type { KeyLimits } from '@windlass/proto/windlass/identity/v1/principals'
import type { Settings } from '@windlass/runtime/config/settings'
import { invalidMember, parsePermissions } from '../domain/grants.ts'

/** The default and the maximum lifetime of keys. */
export type KeyLifetimes = Settings['security']['auth']['api_keys']

const MAX_DAYS = 36_500
const MAX_PERMISSIONS = 100
const MAX_NETWORKS = 20

/**
 * Returns the lifetime of a new key in days; 0: the key does not expire. A request without a lifetime gets
 * the default, else the maximum. Throws `unprocessable` above the maximum.
 */
export function parseLifetime(days: number, lifetimes: KeyLifetimes): number {
  const { default_lifetime_days, max_lifetime_days } = lifetimes
  const max = max_lifetime_days || MAX_DAYS
  if (days > max) throw invalidMember('expires_in_days', `must be ${max} or less`)
  if (days > 0) return days
  return Math.min(default_lifetime_days || max_lifetime_days, max)
}

/**
 * Returns the limits in the form in which they are stored; undefined for none. Throws `unprocessable` or
 * `invalid`.
 */
export function parseLimits({ permissions, networks }: KeyLimits) {
  if (permissions.length > MAX_PERMISSIONS)
    throw invalidMember('permissions', `must be at most ${MAX_PERMISSIONS}`)
  if (networks.length > MAX_NETWORKS)
    throw invalidMember('networks', `must be at most ${MAX_NETWORKS}`)
  if (!networks.every(isNetwork))
    throw invalidMember('networks', 'must be addresses or networks such as 10.0.0.0/8')
  return {
    permissions: permissions.length > 0 ? parsePermissions(permissions) : undefined,
    networks: networks.length > 0 ? [...new Set(networks)] : undefined,
  }
}
