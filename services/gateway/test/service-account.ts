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
