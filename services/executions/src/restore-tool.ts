// The program behind `windlass admin after-restore`.
import { loadSettingsOrExit } from '@windlass/runtime/config/load-settings'
import { openDb } from '@windlass/runtime/postgres/db'
import { describeFailure } from '@windlass/runtime/postgres/describe-failure'
import { prepareRestored } from './engine/after-restore.ts'

/** Time limit of a statement: those of this program may change every row. */
const STATEMENT_MS = 3_600_000

const { postgres, executions } = loadSettingsOrExit()
const db = openDb(postgres.url, 'executions', { maxConnections: 1, statementMs: STATEMENT_MS })
try {
  const { unfinished, requeued, isRenumbered } = await prepareRestored(db, {
    claimMs: executions.claim_timeout * 1_000,
    cancelMs: executions.cancel_timeout * 1_000,
    maxAttempts: executions.max_attempts,
  })
  const lines = [
    `${unfinished} executions are unfinished; claims from before are invalid`,
    ...(isRenumbered ? ['the data came from another server: its ends were renumbered'] : []),
    `${requeued.length} executions were held by workers; what they did after the backup runs again:`,
    ...requeued,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
} catch (error) {
  process.stderr.write(`${describeFailure(error)}\n`)
  process.exitCode = 1
} finally {
  await db.close()
}
