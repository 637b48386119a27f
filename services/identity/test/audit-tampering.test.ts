import { type Checkpoint, parseCheckpointToken } from '@windlass/domain/audit-checkpoint'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { generatePrivatePart, importSigningKey } from '../src/engine/signing-key.ts'
import { tamper, verifyChain } from './audit-fixture.ts'
import { checkpointFixture, rebuild, type Setup } from './checkpoint-fixture.ts'

/** Changes by an owner of the database, and the problems that a verifier reports. */
const tampering: Record<string, [act: (all: Setup) => Promise<unknown>, found: unknown[]]> = {
  'a changed entry and the chain computed again': [
    async (all) => {
      await tamper(all.db, sql`update audit_log set subject = 'eve' where seq = 4`)
      await rebuild(all)
    },
    ['entry 6 is not the one of its signed checkpoint'],
  ],
  'removed last entries, with the head set back': [
    ({ db }) =>
      tamper(
        db,
        sql`delete from audit_log where seq > 4`,
        sql`update audit_head set seq = 4, hash = (select hash from audit_log where seq = 4)`,
      ),
    ['entries 5 to 6 are missing'],
  ],
  'a changed checkpoint': [
    ({ db }) => changeToken(db, { hash: '0'.repeat(64) }),
    ['the checkpoint of entry 6 was changed: its signature is not valid'],
  ],
  'a text as a checkpoint': [
    ({ db }) => tamper(db, sql`update audit_checkpoints set token = 'x'`),
    ['checkpoint 1 of the list was changed: it cannot be parsed'],
  ],
  'a checkpoint of a foreign key that was inserted': [
    async ({ db }) => {
      const key = importSigningKey(generatePrivatePart())
      const [row] = await db.rows<{ token: string }>(sql`select token from audit_checkpoints`)
      const forged = key.sign(parseCheckpointToken(row?.token ?? '') as Checkpoint)
      await tamper(
        db,
        sql`insert into audit_keys (key_id, public_key, encryption_key_id, nonce, ciphertext)
            select ${key.kid}, ${key.x}, encryption_key_id, nonce, ciphertext from audit_keys`,
        sql`update audit_checkpoints set key_id = ${key.kid}, token = ${forged}`,
      )
    },
    [expect.stringMatching(/^the checkpoint of entry 6 .* private part identity does not have$/)],
  ],
  'a foreign public key under the id of the log': [
    ({ db }) => {
      const { x } = importSigningKey(generatePrivatePart())
      return tamper(db, sql`update audit_keys set public_key = ${x}`)
    },
    [
      expect.stringMatching(/^key \S+ was changed: its id is not that of this key$/),
      expect.stringMatching(/^the checkpoint of entry 6 .* which the log does not have$/),
    ],
  ],
  'entries deleted up to a checkpoint that is not of a prune': [
    ({ db }) => tamper(db, sql`delete from audit_log where seq <= 6`),
    ['entries 1 to 6 are missing'],
  ],
  'a pruned part whose checkpoint was removed': [
    async ({ db, prune }) => {
      await prune(7)
      await tamper(db, sql`delete from audit_checkpoints`)
    },
    ['entries 1 to 7 were pruned, and no valid signed checkpoint covers them'],
  ],
  'a pruned part, and another first entry': [
    async (all) => {
      await all.prune(7)
      const { entries } = await all.list()
      const [first] = entries
      await tamper(
        all.db,
        sql`update audit_log set previous_hash = ${Buffer.alloc(32, 1)} where seq = ${first?.seq}`,
      )
      await rebuild(all)
    },
    ['entry 8 does not continue the checkpoint of entry 7'],
  ],
}

const changeToken = async (db: Setup['db'], change: Partial<Checkpoint>) => {
  const [row] = await db.rows<{ token: string }>(sql`select token from audit_checkpoints`)
  const [header, payload = '', signature] = row?.token.split('.') ?? []
  const checkpoint = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const changed = Buffer.from(JSON.stringify({ ...checkpoint, ...change })).toString('base64url')
  await tamper(db, sql`update audit_checkpoints set token = ${`${header}.${changed}.${signature}`}`)
}

test.each(Object.entries(tampering))('%s: reported', async (_, [act, found]) => {
  const all = await checkpointFixture()
  await act(all)
  expect((await verifyChain(all)).problems).toEqual(found)
})

test('noted key: checkpoints of another one are refused, and a log without any too', async () => {
  const all = await checkpointFixture()
  const { kids } = await verifyChain(all)
  expect((await verifyChain(all, { noted: kids })).problems).toEqual([])
  const other = importSigningKey(generatePrivatePart()).kid
  expect((await verifyChain(all, { noted: [other] })).problems).toEqual([
    `the checkpoint of entry 6 is signed with key ${kids[0]}, which is not the noted one`,
    'no checkpoint is signed with the noted key',
  ])
  await tamper(all.db, sql`delete from audit_checkpoints`)
  expect((await verifyChain(all, { noted: kids })).problems).toEqual([
    'no checkpoint is signed with the noted key',
  ])
})

test('triggers enabled: changes of checkpoints and keys are refused', async () => {
  const { db } = await checkpointFixture()
  for (const change of [
    sql`update audit_checkpoints set token = ''`,
    sql`delete from audit_checkpoints`,
    sql`truncate audit_checkpoints`,
    sql`delete from audit_keys`,
  ])
    await expect(db.run(change)).rejects.toThrow('only appended to')
})
