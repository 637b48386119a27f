import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { pruneAudit } from '../src/engine/audit-pruning.ts'
import {
  allowAnyAge,
  auditFixture,
  entry,
  findChainProblems,
  signingKeys,
  tamper,
  verifyChain,
} from './audit-fixture.ts'

/** A log of ten entries, with their numbers and hashes. */
async function setup({ hasMinAge = false } = {}) {
  const all = await auditFixture()
  if (!hasMinAge) await allowAnyAge(all.db)
  await all.audit.record({
    records: Array.from({ length: 10 }, (_, i) => entry({ object: `o${i}` })),
  })
  const { entries } = await all.list()
  const headOf = (seq: number) => ({ seq, hash: entries[seq - 1]?.hash ?? Buffer.alloc(32) })
  const keys = await signingKeys(all.db)
  const prune = (head: ReturnType<typeof headOf>) => pruneAudit({ db: all.db, keys }, head)
  return { ...all, entries, headOf, prune }
}

test('pruned up to a checkpoint: the rest verifies, and the chain names the checkpoint', async () => {
  const { prune, list, headOf, ...all } = await setup()
  expect(await prune(headOf(6))).toBe(6)
  const { entries } = await list()
  expect(entries.map(({ seq }) => seq)).toEqual([7, 8, 9, 10, 11])
  expect(entries.at(-1)?.draft).toMatchObject({ action: 'audit.prune', outcome: 'done' })
  expect(await verifyChain({ list, ...all })).toMatchObject({
    problems: [],
    notes: [expect.stringMatching(/^entries 1 to 6 were pruned on .*, with a signed checkpoint$/)],
    checkpoints: [{ seq: 6, entries: 6, reason: 'prune' }],
  })

  await all.audit.record({ records: [entry()] })
  expect(await prune(headOf(8))).toBe(2)
  expect(await findChainProblems({ list, ...all })).toEqual([])
  await expect(prune(headOf(8))).rejects.toMatchObject({ kind: 'not_found' })
})

test('more entries deleted than were pruned: reported as missing', async () => {
  const { db, prune, headOf, ...all } = await setup()
  await prune(headOf(3))
  await tamper(db, sql`delete from audit_log where seq <= 5`)
  expect(await findChainProblems(all)).toEqual(['entries 1 to 5 are missing'])
})

test('checkpoint with another hash: refused, nothing is deleted', async () => {
  const { prune, list, headOf } = await setup()
  const wrong = { seq: 4, hash: headOf(5).hash }
  await expect(prune(wrong)).rejects.toMatchObject({ kind: 'conflict' })
  expect((await list()).entries).toHaveLength(10)
})

test('entries of the last seven days: the database refuses to prune them', async () => {
  const { db, prune, list, headOf, audit } = await setup({ hasMinAge: true })
  await expect(prune(headOf(4))).rejects.toThrow('older than 7 days')
  for (const change of [
    sql`delete from audit_log where seq = 1`,
    sql`update audit_base set seq = 4, hash = ${headOf(4).hash}`,
    sql`delete from audit_base`,
  ])
    await expect(db.run(change)).rejects.toThrow(/only (appended to|entries of the audit log)/)
  expect((await list()).entries).toHaveLength(10)
  expect((await audit.listCheckpoints({ limit: 1, offset: 0 })).total).toBe(0)
})

test('a command of an earlier release, which signs no checkpoint: refused by the database', async () => {
  const { db, headOf } = await setup()
  await expect(
    db.run(sql`update audit_base set seq = 4, hash = ${headOf(4).hash}`),
  ).rejects.toThrow('needs a signed checkpoint')
})

test('noted head in the pruned part: named; at the checkpoint: compared', async () => {
  const { prune, headOf, ...all } = await setup()
  await prune(headOf(6))
  const problemsWith = async (remembered: ReturnType<typeof headOf>) =>
    (await verifyChain(all, { remembered })).problems
  expect(await problemsWith(headOf(6))).toEqual([])
  expect(await problemsWith({ ...headOf(6), hash: headOf(5).hash })).toEqual([
    'entry 6 is not the one that was remembered',
  ])
  expect(await problemsWith(headOf(2))).toEqual([
    'entry 2 was pruned: verify it with the exported file',
  ])
})
