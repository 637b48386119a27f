import { gauge } from '@windlass/runtime/metrics/instruments'

export const encryptionKeySince = gauge('windlass_encryption_key_since_seconds', {
  help: 'Time of the first use of the key that encrypts secrets, in seconds since 1970; each replica reports the same.',
})
