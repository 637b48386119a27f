import type { Principal } from '@windlass/proto/windlass/identity/v1/principals'
import { ID } from './assert-response.ts'

/** A service account as identity returns it. */
export const serviceAccount = (changes: Partial<Principal> = {}): Principal => ({
  id: ID,
  subject: 'robot',
  type: 'service_account',
  external_issuer: 'svc',
  display_name: undefined,
  enabled: true,
  roles: [],
  ...changes,
})

/** The key of a principal, which its first digit names. */
export const keyOf = (digit: string) => `wk_${digit.repeat(16)}.${'A'.repeat(43)}`

/** The keys of two principals with all permissions: that of the digit 0 is of ann, all others are of bob. */
export const keysOfAnnAndBob = (changes: Partial<Principal> = {}) => ({
  async find({ prefix }: { prefix: string }) {
    const subject = prefix.startsWith('wk_0') ? 'ann' : 'bob'
    const principal = serviceAccount({ subject, ...changes })
    return { account: { principal, permissions: ['*'] }, expires_at: undefined }
  },
})
