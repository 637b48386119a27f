import { loadSettingsOrExit } from '@windlass/runtime/config/load-settings'
import { openDb } from '@windlass/runtime/postgres/db'
import { describeFailure } from '@windlass/runtime/postgres/describe-failure'
import { pruneAudit } from './engine/audit-pruning.ts'
import { CheckpointKeys } from './engine/checkpoint-keys.ts'
import { deriveKeyring } from './engine/derive-keyring.ts'

const [, seq, hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(process.argv[2] ?? '') ?? []
const { postgres, security } = loadSettingsOrExit()
const db = openDb(postgres.url, 'identity', { maxConnections: 2 })
try {
  if (seq === undefined) throw new Error('use: SEQ:HASH, as printed by windlass audit export')
  const keys = new CheckpointKeys(await deriveKeyring(db, security.encryption))
  const deleted = await pruneAudit(
    { db, keys },
    { seq: Number(seq), hash: Buffer.from(hash, 'hex') },
  )
  process.stdout.write(`deleted ${deleted} entries\n`)
} catch (error) {
  process.stderr.write(`${describeFailure(error)}\n`)
  process.exitCode = 1
} finally {
  await db.close()
}
