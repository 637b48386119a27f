import type { Head } from '@windlass/domain/audit'
import { parseCheckpointToken } from '@windlass/domain/audit-checkpoint'
import { sql } from '@windlass/runtime/postgres/sql'
import { exposeMetrics } from '@windlass/testkit/exposed-metrics'
import { expect, test } from 'vitest'
import { pruneAudit } from '../src/engine/audit-pruning.ts'
import { CheckpointKeys } from '../src/engine/checkpoint-keys.ts'
import {
  allowAnyAge,
  ann,
  auditFixture,
  ENCRYPTION_KEY,
  entry,
  readList,
  signingKeys,
  tamper,
  verifyChain,
} from './audit-fixture.ts'
import { checkpointFixture, signWith } from './checkpoint-fixture.ts'
import { startIdentity } from './identity-fixture.ts'

const NEXT_KEY = 'another key for this test alone'

test('the newest entry: signed once by several replicas, and again after the interval', async () => {
  const all = await checkpointFixture()
  const kept = async () =>
    (await readList(all)).tokens.map((token) => parseCheckpointToken(token)?.seq)
  await Promise.all(Array.from({ length: 8 }, () => all.sign()))
  expect(await kept()).toEqual([8, 6])
  await all.record(1)
  await all.sign(3_600)
  expect(await kept()).toEqual([8, 6])
  await all.sign()
  expect(await kept()).toEqual([9, 8, 6])
  expect(await verifyChain(all)).toMatchObject({ problems: [], notes: [] })
})

test('a checkpoint is overdue: the metric says for how long, and is 0 after the next one', async () => {
  const metric = exposeMetrics()
  const overdue = () => metric('windlass_audit_checkpoint_overdue_seconds')
  const all = await checkpointFixture()
  await tamper(all.db, sql`update audit_log set at = at - interval '3 days' where seq = 7`)
  // Collections share a read for five seconds.
  const POLL = { timeout: 30_000, interval: 500 }
  const daysSinceDue = async () => ((await overdue()) + 3_600) / 86_400
  await expect.poll(daysSinceDue, POLL).toBeCloseTo(3, 1)
  await all.sign()
  await expect.poll(overdue, POLL).toBe(0)
})

test('two processes with a short interval: every entry is soon covered, by one key', async () => {
  const { db, replica, ...all } = await auditFixture()
  const env = { SVC_AUDIT__CHECKPOINT_INTERVAL: '0.1' }
  const [one, two] = await Promise.all([replica(env), replica(env)])
  for (const { audit } of [one, two, one]) await audit.record({ records: [entry()] })
  await expect
    .poll(async () => (await verifyChain(all)).checkpoints.map(({ seq }) => seq)[0])
    .toBe(3)
  const { kids, problems } = await verifyChain(all)
  expect({ keys: kids.length, problems }).toEqual({ keys: 1, problems: [] })
})

test('rotation of the encryption key: the signing key stays, and earlier checkpoints verify', async () => {
  const { replica, ...all } = await checkpointFixture()
  const before = await verifyChain(all)
  const PREVIOUS = 'SVC_SECURITY__ENCRYPTION__PREVIOUS_KEYS'
  const next = { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: NEXT_KEY }
  const both = await replica({ ...next, [PREVIOUS]: ENCRYPTION_KEY })
  await both.secrets.rotateKey({ after: '', limit: 10 })
  const rotated = await replica(next)
  await signWith(all, NEXT_KEY)
  const after = await verifyChain({ ...all, audit: rotated.audit })
  expect(after).toMatchObject({ problems: [], kids: before.kids })
  expect(after.checkpoints.map(({ seq }) => seq)).toEqual([8, 6])
  // A process with the earlier key alone cannot sign any more.
  expect((await (await signingKeys(all.db)).list(all.db)).map((key) => key.confirmed)).toEqual([
    false,
  ])
})

test('encryption key lost: the next checkpoint has a new key, and the earlier one must be noted', async () => {
  const { replica, ...all } = await checkpointFixture()
  const { kids: first } = await verifyChain(all)
  const { audit } = await replica({ SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: NEXT_KEY })
  await signWith(all, NEXT_KEY)
  const { problems, kids: second } = await verifyChain({ ...all, audit })
  expect(problems).toEqual([
    `the checkpoint of entry 6 is signed with key ${first[0]}, whose private part identity does not have`,
  ])
  const noted = [...first, ...second]
  expect((await verifyChain({ ...all, audit }, { noted })).problems).toEqual([])
})

test('no encryption key: nothing is signed, pruning is refused, and expiry stops the start', async () => {
  const { db, replica } = await startIdentity({ caller: ann })
  await allowAnyAge(db)
  const { audit } = await replica({ SVC_AUDIT__CHECKPOINT_INTERVAL: '0.1' })
  await audit.record({ records: [entry()] })
  const [row] = await db.rows<Head>(sql`select seq, hash from audit_head`)
  if (!row) expect.unreachable()
  await expect(pruneAudit({ db, keys: new CheckpointKeys(undefined) }, row)).rejects.toThrow(
    '[svc.security.encryption].encryption_key: set it',
  )
  expect(await audit.listCheckpoints({ limit: 1, offset: 0 })).toEqual({
    ...{ checkpoints: [], total: 0, keys: [] },
  })
  await expect(
    replica({ SVC_RETENTION__ENABLED: 'true', SVC_RETENTION__AUDIT_DAYS: '30' }),
  ).rejects.toThrow('[svc.retention].audit_days needs')
})
