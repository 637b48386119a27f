import { address } from '../location/address.ts'
import type { Place } from '../location/location.ts'

/** Why a sign-in at the issuer failed, by the parameter `sign_in` with which the server returns. */
export const SIGN_IN_PROBLEMS: Record<string, string | undefined> = {
  expired:
    'The sign-in took too long, was begun in another browser, or another one was begun after it. Begin again.',
  refused: 'The issuer, or this server, refused the sign-in.',
  unknown_principal:
    'You are known to the issuer, but have no account here. An administrator makes one.',
  unavailable: 'The issuer cannot be reached now. Try again later.',
}

/** The address at which a sign-in begins; it ends at the place that was asked for. */
export function issuerAddress(start: string, { path, query }: Place): string {
  const { sign_in: _, ...values } = Object.fromEntries(query)
  return `${start}?${new URLSearchParams({ return_to: address(path, values) })}`
}
