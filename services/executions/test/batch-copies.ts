import type { Approval } from '../src/domain/approvals.ts'
import type { CommandResult } from '../src/engine/apply.ts'
import { type BatchCase, PREFIX } from './batch-cases.ts'

/** The case with other ids and names. */
export function copyOf(plan: BatchCase, prefix: string): BatchCase {
  const copy = JSON.parse(JSON.stringify(plan).replaceAll(PREFIX, prefix)) as BatchCase
  const dated = (approval: Approval) => ({
    ...approval,
    decided_at: approval.decided_at && new Date(approval.decided_at),
  })
  return { ...copy, approvals: copy.approvals.map(dated) }
}

/** Answer to the caller. */
export const answerOf = (result: CommandResult) =>
  'fault' in result
    ? { kind: result.fault.kind, message: result.fault.message, details: result.fault.details }
    : result

/** Replaces prefixes and times, so that copies of a case compare. */
export const normalized = (value: unknown, prefix: string = PREFIX): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(prefix, PREFIX)
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'),
  )
