import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { auditFixture, entry, findChainProblems } from './audit-fixture.ts'

const APPENDED = 6

async function withLog() {
  const all = await auditFixture()
  const records = Array.from({ length: APPENDED }, (_, i) => entry({ object: `o${i}` }))
  await all.audit.record({ records })
  return all
}

test.each([
  ['update of entries', sql`update audit_log set subject = 'eve'`],
  ['deletion of entries', sql`delete from audit_log`],
  ['truncation', sql`truncate audit_log`],
  ['head set back', sql`update audit_head set seq = 1`],
  ['head deleted', sql`delete from audit_head`],
])('%s: refused by the database', async (_, statement) => {
  const all = await withLog()
  await expect(all.db.run(statement)).rejects.toThrow('only appended to')
  expect(await findChainProblems(all)).toEqual([])
})

/** Changes by a database owner who disables the triggers, and the problems that the verifier reports. */
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
  'an added space in a detail': [
    [sql`update audit_log set detail = '{ }' where seq = 2`],
    ['entry 2 was changed'],
  ],
  'a deleted entry': [[sql`delete from audit_log where seq = 3`], ['entry 3 is missing']],
  'deleted first entries': [
    [sql`delete from audit_log where seq < 3`],
    ['entries 1 to 2 are missing'],
  ],
  'deleted last entries': [
    [sql`delete from audit_log where seq > 4`],
    ['entries 5 to 6 are missing'],
  ],
  'a deleted entry with renumbered successors': [
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
  'exchanged entries': [
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

test.each(Object.entries(tampering))(
  '%s: reported by the verifier',
  async (_, [statements, found]) => {
    const all = await withLog()
    await all.db.tx(async (tx) => {
      await tx.run(sql`set local session_replication_role = replica`)
      for (const statement of statements) await tx.run(statement)
    })
    expect(await findChainProblems(all)).toEqual(found)
  },
)
