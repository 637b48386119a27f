import { AuditChainVerifier } from '@windlass/domain/audit'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { pruneAudit } from '../src/engine/audit-pruning.ts'
import { auditFixture, entry, findChainProblems } from './audit-fixture.ts'

/** A log of ten entries, with their numbers and hashes. */
async function setup({ hasMinAge = false } = {}) {
  const all = await auditFixture()
  if (!hasMinAge)
    await all.db.run(sql`
      create or replace function audit_min_age() returns interval language sql immutable as
        $$ select interval '0 seconds' $$`)
  await all.audit.record({
    records: Array.from({ length: 10 }, (_, i) => entry({ object: `o${i}` })),
  })
  const { entries } = await all.list()
  const headOf = (seq: number) => ({ seq, hash: entries[seq - 1]?.hash ?? Buffer.alloc(32) })
  return { ...all, entries, headOf }
}

test('pruned up to a checkpoint: the rest verifies, and the chain names the checkpoint', async () => {
  const { db, list, headOf, ...all } = await setup()
  expect(await pruneAudit(db, headOf(6))).toBe(6)
  const { entries } = await list()
  expect(entries.map(({ seq }) => seq)).toEqual([7, 8, 9, 10, 11])
  expect(entries.at(-1)?.draft).toMatchObject({ action: 'audit.prune', outcome: 'done' })
  expect(await findChainProblems({ list })).toEqual([])

  await all.audit.record({ records: [entry()] })
  expect(await pruneAudit(db, headOf(8))).toBe(2)
  expect(await findChainProblems({ list })).toEqual([])
  await expect(pruneAudit(db, headOf(8))).rejects.toMatchObject({ kind: 'not_found' })
})

test('more entries deleted than were pruned: reported as missing', async () => {
  const { db, list, headOf } = await setup()
  await pruneAudit(db, headOf(3))
  await db.tx(async (tx) => {
    await tx.run(sql`set local session_replication_role = replica`)
    await tx.run(sql`delete from audit_log where seq <= 5`)
  })
  expect(await findChainProblems({ list })).toEqual(['entries 1 to 5 are missing'])
})

test('checkpoint with another hash: refused, nothing is deleted', async () => {
  const { db, list, headOf } = await setup()
  const wrong = { seq: 4, hash: headOf(5).hash }
  await expect(pruneAudit(db, wrong)).rejects.toMatchObject({ kind: 'conflict' })
  expect((await list()).entries).toHaveLength(10)
})

test('entries of the last seven days: the database refuses to prune them', async () => {
  const { db, list, headOf } = await setup({ hasMinAge: true })
  await expect(pruneAudit(db, headOf(4))).rejects.toThrow('older than 7 days')
  for (const change of [
    sql`delete from audit_log where seq = 1`,
    sql`update audit_base set seq = 4, hash = ${headOf(4).hash}`,
    sql`delete from audit_base`,
  ])
    await expect(db.run(change)).rejects.toThrow(/only (appended to|entries of the audit log)/)
  expect((await list()).entries).toHaveLength(10)
})

test('noted head in the pruned part: named; at the checkpoint: compared', async () => {
  const { db, list, headOf } = await setup()
  await pruneAudit(db, headOf(6))
  const problemsWith = async (remembered: ReturnType<typeof headOf>) => {
    const verifier = new AuditChainVerifier(remembered)
    const { entries, head_seq, head_hash } = await list()
    for (const { seq, at, draft, previous_hash, hash } of entries) {
      if (!at || !draft?.by) expect.unreachable()
      const { by, ...rest } = draft
      verifier.verifyNext({ seq, at: at.toISOString(), ...by, ...rest, previous_hash, hash })
    }
    verifier.verifyEnd({ seq: head_seq, hash: head_hash })
    return verifier.problems
  }
  expect(await problemsWith(headOf(6))).toEqual([])
  expect(await problemsWith({ ...headOf(6), hash: headOf(5).hash })).toEqual([
    'entry 6 is not the one that was remembered',
  ])
  expect(await problemsWith(headOf(2))).toEqual([
    'entry 2 was pruned: verify it with the exported file',
  ])
})
