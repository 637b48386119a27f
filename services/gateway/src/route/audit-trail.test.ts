import type { Caller } from '@windlass/domain/caller'
import { conflict, Fault, unavailable } from '@windlass/runtime/faults'
import { JsonError } from '@windlass/runtime/json/json'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { AuditLog } from '../clients/audit-log.ts'
import { AuditTrail, type RequestInput } from './audit-trail.ts'

test.each([
  ['a denial', new Fault('forbidden', 'no'), 'denied', 'no'],
  ['a refusal', conflict('no'), 'failed', 'conflict'],
  ['a body that is no JSON', new JsonError('no', 0), 'failed', 'unprocessable'],
  ['an unavailable service', unavailable('no'), 'unknown', 'unavailable'],
  ['a bug', new Error('no'), 'unknown', 'error'],
])('%s: recorded with its outcome', async (_, error, outcome, reason) => {
  expect(await recorded(error)).toMatchObject([
    { caller: 'ann to identity', outcome, detail_json: JSON.stringify({ reason }) },
  ])
})

test('a dry run: recorded only if denied, and marked as a dry run', async () => {
  expect(await recorded(conflict('no'), true)).toEqual([])
  expect(await recorded(new Fault('forbidden', 'no'), true)).toMatchObject([
    { outcome: 'denied', detail_json: '{"reason":"no","dry_run":true}' },
  ])
})

/** Returns the entries of a refused request. */
async function recorded(error: unknown, isTry = false): Promise<unknown[]> {
  const kept: unknown[] = []
  const record = async ({ records }: { records: unknown[] }) => {
    kept.push(...records)
    return { seqs: records.map(() => 1) }
  }
  const vouch = (caller: Caller, to: string) => `${caller.subject} to ${to}`
  const log = new AuditLog({ record }, { signCaller: vouch }, pino({ level: 'silent' }))
  const audit = {
    ...({ action: 'secret.put', object: () => 'secret', recorded: 'owner' } as const),
    isDryRun: () => isTry,
  }
  const input = { caller: { subject: 'ann' }, ctx: { id: 'r-1' } } as RequestInput
  await new AuditTrail({ audit, access: 'admin:secrets:manage' }, log, input).recordRefusal(error)
  await log.stop()
  return kept
}
