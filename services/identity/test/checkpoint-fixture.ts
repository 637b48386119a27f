import { hashEntry } from '@windlass/domain/audit'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { expect } from 'vitest'
import { pruneAudit } from '../src/engine/audit-pruning.ts'
import { signHead } from '../src/engine/sign-checkpoints.ts'
import { allowAnyAge, auditFixture, entry, signingKeys, tamper } from './audit-fixture.ts'

const log = { error: () => {} }

/** A log of eight entries, the first six of them with a checkpoint. */
export async function checkpointFixture() {
  const all = await auditFixture()
  await allowAnyAge(all.db)
  const keys = await signingKeys(all.db)
  const sign = (intervalS = 0) => signHead({ db: all.db, keys, log }, intervalS)
  const record = (count: number) =>
    all.audit.record({ records: Array.from({ length: count }, () => entry()) })
  await record(6)
  await sign()
  await record(2)
  const { entries } = await all.list()
  const prune = (seq: number) =>
    pruneAudit({ db: all.db, keys }, { seq, hash: entries[seq - 1]?.hash ?? Buffer.alloc(32) })
  return { ...all, keys, sign, record, prune }
}

export type Setup = Awaited<ReturnType<typeof checkpointFixture>>

/** Signs the newest entry; the loop of a replica may hold the lock meanwhile. */
export async function signWith({ db }: Pick<Setup, 'db'>, encryptionKey: string) {
  const keys = await signingKeys(db, encryptionKey)
  const isSigned = async () => {
    await signHead({ db, keys, log }, 0)
    const row = await db.maybe<{ is_signed: boolean }>(sql`
      select exists (select from audit_checkpoints c where c.seq = h.seq) as is_signed from audit_head h`)
    return row?.is_signed
  }
  await expect.poll(isSigned).toBe(true)
}

/** Sets the age of the entries in days, the oldest first, and computes the chain again. */
export async function rebuild({ db, list }: Setup, days: readonly number[] = []) {
  const { entries } = await list()
  let previous = entries[0]?.previous_hash ?? Buffer.alloc(32)
  const statements: Sql[] = []
  for (const [i, { seq, at, draft }] of entries.entries()) {
    if (!at || !draft?.by) expect.unreachable()
    const { by, ...rest } = draft
    const time = days[i] === undefined ? at : new Date(Date.now() - days[i] * 86_400_000)
    const hash = hashEntry(previous, { seq, at: time.toISOString(), ...by, ...rest })
    statements.push(sql`
      update audit_log set at = ${time}, previous_hash = ${previous}, hash = ${hash} where seq = ${seq}`)
    previous = hash
  }
  await tamper(db, ...statements, sql`update audit_head set hash = ${previous}`)
}
