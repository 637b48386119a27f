import type { Approval } from '../src/domain/approvals.ts'
import type { CommandResult } from '../src/engine/apply.ts'
import { type BatchCase, PREFIX } from './batch-cases.ts'

/** The same case with ids and names of its own. */
export function copyOf(plan: BatchCase, prefix: string): BatchCase {
  const copy = JSON.parse(JSON.stringify(plan).replaceAll(PREFIX, prefix)) as BatchCase
  const dated = (approval: Approval) => ({
    ...approval,
    decided_at: approval.decided_at && new Date(approval.decided_at),
  })
  return { ...copy, approvals: copy.approvals.map(dated) }
}

/** What a caller is answered. */
export const answerOf = (result: CommandResult) =>
  'fault' in result
    ? { kind: result.fault.kind, message: result.fault.message, details: result.fault.details }
    : result

/** Comparable between copies of a case, and between times. */
export const normalized = (value: unknown, prefix: string = PREFIX): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(prefix, PREFIX)
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'),
  )
