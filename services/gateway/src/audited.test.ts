import { conflict, Fault, unavailable } from '@windlass/runtime/faults'
import { JsonError } from '@windlass/runtime/json'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { AuditLog } from './audit-log.ts'
import { type AnyInput, Trail } from './audited.ts'

test.each([
  ['what was not allowed', new Fault('forbidden', 'no'), 'denied', 'no'],
  ['what was refused', conflict('no'), 'failed', 'conflict'],
  ['a body that is no JSON', new JsonError('no', 0), 'failed', 'unprocessable'],
  ['what nobody can say', unavailable('no'), 'unknown', 'unavailable'],
  ['a bug', new Error('no'), 'unknown', 'error'],
])('%s', async (_, error, outcome, reason) => {
  const kept: unknown[] = []
  const record = async ({ drafts }: { drafts: unknown[] }) => {
    kept.push(...drafts)
    return { seqs: drafts.map(() => 1) }
  }
  const log = new AuditLog({ record }, pino({ level: 'silent' }))
  const audited = { action: 'secret.put', object: () => 'secret', recorded: 'owner' } as const
  const input = { caller: { subject: 'ann' }, x: { id: 'r-1' } } as AnyInput
  await new Trail({ audited, access: 'admin:secrets:manage' }, log, input).refuse(error)
  await log.stop()
  expect(kept).toMatchObject([{ outcome, detail_json: JSON.stringify({ reason }) }])
})
