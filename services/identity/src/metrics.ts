import { gauge } from '@windlass/runtime/metrics/instruments'

export const encryptionKeySince = gauge('windlass_encryption_key_since_seconds', {
  help: 'Time of the first use of the key that encrypts secrets, in seconds since 1970; each replica reports the same.',
})
export const checkpointOverdue = gauge('windlass_audit_checkpoint_overdue_seconds', {
  help: 'Time for which a signed checkpoint of the audit log has been overdue: age of the oldest entry without one, beyond `checkpoint_interval`; 0 if none is. Each replica with an encryption key reports the same.',
})
