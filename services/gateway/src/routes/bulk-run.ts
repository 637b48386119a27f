import type { ExecutionRow } from '@windlass/proto/windlass/executions/v1/history'
import { Fault } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import type { Caller } from '../access/caller.ts'
import type { BulkProgress, BulkRecord } from '../clients/bulk-progress.ts'
import { applyAct, type BulkAct, type BulkDeps } from './bulk-act.ts'

/** Number of executions that are changed concurrently, between two reports of progress. */
const CHUNK = 50
const MAX_FAILURES = 100

interface Performance {
  rows: readonly ExecutionRow[]
  signal: AbortSignal
  /** Returns the caller as of its last check. */
  callerNow: () => Caller
  /** Called with the progress when it begins, after each chunk, and at the end. */
  onProgress: (record: BulkRecord) => void
}

/** Applies an act to all rows until `signal` aborts; returns the result. Its progress is stored after each chunk. */
export async function performAct(
  deps: BulkDeps & { bulkProgress: BulkProgress },
  act: BulkAct,
  { rows, signal, callerNow, onProgress }: Performance,
): Promise<BulkRecord> {
  const owner = callerNow()
  const record = newRecord(act, rows.length)
  const report = async () => {
    record.updated_at = new Date().toISOString()
    await deps.bulkProgress.save(owner, record)
    onProgress(record)
  }
  const applyTo = async (row: ExecutionRow) => {
    try {
      await applyAct(deps, act, { caller: callerNow(), row })
      record.done++
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      record.failed++
      const { message: reason } = error
      if (record.failures.length < MAX_FAILURES)
        record.failures.push({ execution_id: row.execution_id, reason })
    }
  }
  try {
    await report()
    for (let i = 0; i < rows.length && !signal.aborted; i += CHUNK) {
      await Promise.all(rows.slice(i, i + CHUNK).map(applyTo))
      await report()
    }
    record.state = 'ended'
  } finally {
    if (record.state === 'running') record.state = 'interrupted'
    record.stopped = record.done + record.failed < record.total
    await report()
  }
  return record
}

function newRecord({ action }: BulkAct, total: number): BulkRecord {
  const started_at = new Date().toISOString()
  return {
    ...{ id: newId(), action, state: 'running', total, done: 0, failed: 0, stopped: false },
    ...{ started_at, updated_at: started_at, failures: [] },
  }
}
