import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { entry, problems, setup } from './audit-log.ts'

const APPENDED = 6

async function withLog() {
  const all = await setup()
  const records = Array.from({ length: APPENDED }, (_, i) => entry({ object: `o${i}` }))
  await all.audit.record({ records })
  return all
}

test.each([
  ['an update', sql`update audit_log set subject = 'eve'`],
  ['a delete', sql`delete from audit_log`],
  ['a truncation', sql`truncate audit_log`],
  ['a head that is set back', sql`update audit_head set seq = 1`],
  ['a head that is deleted', sql`delete from audit_head`],
])('the database refuses %s', async (_, statement) => {
  const all = await withLog()
  await expect(all.db.run(statement)).rejects.toThrow('only appended to')
  expect(await problems(all)).toEqual([])
})

/** What somebody does who owns the database and takes the triggers off, and what then is found. */
const tampering: Record<string, [statements: Sql[], found: string[]]> = {
  'a changed actor': [
    [sql`update audit_log set subject = 'eve' where seq = 3`],
    ['entry 3 was changed'],
  ],
  'a changed time': [
    [sql`update audit_log set at = at + interval '1 ms' where seq = 4`],
    ['entry 4 was changed'],
  ],
  'a changed outcome': [
    [sql`update audit_log set outcome = 'denied' where seq = 1`],
    ['entry 1 was changed'],
  ],
  'a blank more in a detail': [
    [sql`update audit_log set detail = '{ }' where seq = 2`],
    ['entry 2 was changed'],
  ],
  'a deleted entry': [[sql`delete from audit_log where seq = 3`], ['entry 3 is missing']],
  'a deleted beginning': [
    [sql`delete from audit_log where seq < 3`],
    ['entries 1 to 2 are missing'],
  ],
  'a deleted end': [[sql`delete from audit_log where seq > 4`], ['entries 5 to 6 are missing']],
  'a deleted entry whose number another one took': [
    [
      sql`delete from audit_log where seq = 3`,
      sql`update audit_log set seq = seq - 1 where seq > 3`,
    ],
    [
      'entry 3 does not continue entry 2: one of them was changed',
      'entry 3 was changed',
      'entry 4 was changed',
      'entry 5 was changed',
      'entry 6 is missing',
    ],
  ],
  'entries that changed places': [
    [
      sql`update audit_log set seq = 100 where seq = 2`,
      sql`update audit_log set seq = 2 where seq = 3`,
      sql`update audit_log set seq = 3 where seq = 100`,
    ],
    [
      'entry 2 does not continue entry 1: one of them was changed',
      'entry 2 was changed',
      'entry 3 does not continue entry 2: one of them was changed',
      'entry 3 was changed',
      'entry 4 does not continue entry 3: one of them was changed',
    ],
  ],
}

test.each(Object.entries(tampering))('%s is found and named', async (_, [statements, found]) => {
  const all = await withLog()
  await all.db.tx(async (tx) => {
    await tx.run(sql`set local session_replication_role = replica`)
    for (const statement of statements) await tx.run(statement)
  })
  expect(await problems(all)).toEqual(found)
})
