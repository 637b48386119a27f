import type { Caller } from '@windlass/domain/caller'
import { conflict, Fault, unavailable } from '@windlass/runtime/faults'
import { JsonError } from '@windlass/runtime/json/json'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { AuditLog } from '../clients/audit-log.ts'
import { AuditTrail, type RequestInput } from './audit-trail.ts'

test.each([
  ['what was not allowed', new Fault('forbidden', 'no'), 'denied', 'no'],
  ['what was refused', conflict('no'), 'failed', 'conflict'],
  ['a body that is no JSON', new JsonError('no', 0), 'failed', 'unprocessable'],
  ['what nobody can say', unavailable('no'), 'unknown', 'unavailable'],
  ['a bug', new Error('no'), 'unknown', 'error'],
])('%s', async (_, error, outcome, reason) => {
  expect(await recorded(error)).toMatchObject([
    { caller: 'ann to identity', outcome, detail_json: JSON.stringify({ reason }) },
  ])
})

test('of a dry run only that it was denied is recorded, and that it was one', async () => {
  expect(await recorded(conflict('no'), true)).toEqual([])
  expect(await recorded(new Fault('forbidden', 'no'), true)).toMatchObject([
    { outcome: 'denied', detail_json: '{"reason":"no","dry_run":true}' },
  ])
})

/** What the log keeps of a request that was refused. */
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
