import type { CapturedLine } from '@windlass/proto/windlass/executions/v1/captured_lines'

/** Limits of the lines that are stored for one execution, over all of its claims. */
export const MAX_LINES = 100_000
export const MAX_BYTES = 10 * 1_048_576
/** Maximum number of lines that one claim may number. */
export const MAX_NUMBER = 1_048_576

const WARNING = 30

/** Lines that an execution has stored so far. */
export interface LineTotals {
  line_count: number
  /** Bytes of the messages in UTF-8. */
  byte_count: number
}

export interface StoredLine extends CapturedLine, LineTotals {
  execution_id: string
}

/**
 * Position of a line among those of its execution. It is derived from the claim and the number of the line
 * within the claim, so a repeated request stores no line twice, and lines of later claims come later.
 */
export const seqOf = (claim_generation: number, number: number): number =>
  claim_generation * MAX_NUMBER + number

/**
 * Returns the lines that the execution may still store. A marker replaces the first line beyond the limits;
 * after it nothing is stored.
 */
export function withinLimits(
  totals: LineTotals,
  lines: readonly Omit<StoredLine, keyof LineTotals>[],
): StoredLine[] {
  const kept: StoredLine[] = []
  let { line_count, byte_count } = totals
  for (const line of lines) {
    if (isFull({ line_count, byte_count })) break
    line_count++
    byte_count += Buffer.byteLength(line.message)
    const counted = { ...line, line_count, byte_count }
    kept.push(isFull(counted) ? { ...counted, ...MARKER } : counted)
  }
  return kept
}

/** True once the marker is stored. */
const isFull = ({ line_count, byte_count }: LineTotals) =>
  line_count > MAX_LINES || byte_count > MAX_BYTES

const MARKER = {
  level: WARNING,
  logger: 'windlass',
  message:
    `no more lines of this execution are stored: it has written ${MAX_LINES} lines or ` +
    `${MAX_BYTES / 1_048_576} MiB`,
}
