import type { ExecutionTokens } from '@windlass/domain/execution-tokens'
import type { Lease, LeaseResponse } from '@windlass/proto/windlass/executions/v1/executions'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Execution } from '../domain/execution.ts'
import { toMessage } from '../domain/message.ts'
import { isDelivered } from '../domain/ownership.ts'
import type { LogCache } from '../engine/cache/logs.ts'
import { readLargeInputs } from '../engine/inputs.ts'
import { readLogs } from '../engine/read-logs.ts'

/**
 * Above this size an answer takes no further rows. The last rows may exceed it; a message may have 256 MiB.
 */
const MAX_ANSWER_BYTES = 24 * 1_048_576
const FIRST_ROWS = 2
/**
 * Below this size the next read takes twice as many rows: almost all answers are small and need few reads.
 */
const SMALL_BYTES = 1_048_576

export const NO_LEASES: LeaseResponse = { leases: [], loads: [], more: false }

export interface LeasedRows {
  tokens: ExecutionTokens
  /** Milliseconds until a lease that is not claimed ends. */
  claimMs: number
  leased: readonly Execution[]
}

interface LeaseAnswer {
  leases: Lease[]
  /** Leased rows that do not fit into the answer; the caller returns them to the queue. */
  remaining: readonly Execution[]
}

/**
 * Reads leased rows with log and input, and mints their execution tokens. Stops when the answer is full:
 * 128 executions with inputs of 16 MiB would take 2 GiB of memory, and no message could hold them.
 */
export async function readLeases(
  db: Db,
  cache: LogCache,
  { leased, ...answer }: LeasedRows,
): Promise<LeaseAnswer> {
  const leases: Lease[] = []
  let bytes = 0
  let count = FIRST_ROWS
  while (leases.length < leased.length && bytes < MAX_ANSWER_BYTES) {
    const rows = leased.slice(leases.length, leases.length + count)
    const read = await readRows(db, cache, { ...answer, leased: rows })
    const readBytes = read.reduce((sum, lease) => sum + sizeOf(lease), 0)
    leases.push(...read)
    bytes += readBytes
    count = readBytes < SMALL_BYTES ? count * 2 : FIRST_ROWS
  }
  return { leases, remaining: leased.slice(leases.length) }
}

async function readRows(db: Db, cache: LogCache, { tokens, claimMs, leased }: LeasedRows) {
  const [logs, inputs] = await Promise.all([
    readLogs(db, cache, leased),
    readLargeInputs(db, leased),
  ])
  return leased.map((row) => ({
    execution: toMessage({
      ...row,
      input_json: row.input_json ?? inputs.get(row.execution_id) ?? 'null',
    }),
    log: logs.get(row) ?? [],
    resumed: row.state === 'RESUME_SCHEDULED',
    execution_token: tokens.mint({ ...row, worker_name: row.held_by ?? '' }),
    claim_ms: isDelivered(row) ? claimMs : undefined,
  }))
}

/**
 * Number of characters of the payloads, which is their size in bytes for ASCII and up to three times too
 * low otherwise.
 */
const sizeOf = ({ execution, log }: Lease): number =>
  log.reduce((sum, { value_json }) => sum + value_json.length, execution?.input_json.length ?? 0)
