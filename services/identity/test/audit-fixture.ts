import { AuditChainVerifier, type Head } from '@windlass/domain/audit'
import { type CheckpointList, verifyCheckpoints } from '@windlass/domain/audit-checkpoint'
import { nodeCrypto } from '@windlass/domain/audit-signature'
import type { Caller } from '@windlass/domain/caller'
import {
  type AuditRecord,
  AuditService,
  type ListAuditRequest,
} from '@windlass/proto/windlass/identity/v1/audit'
import type { Db } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { testIdentity } from '@windlass/testkit/service-identity'
import { CheckpointKeys } from '../src/engine/checkpoint-keys.ts'
import { deriveKeyring } from '../src/engine/derive-keyring.ts'
import { startIdentity } from './identity-fixture.ts'

export const ENCRYPTION_KEY = 'a key for this test alone'

/** Identity with an empty audit log. */
export async function auditFixture() {
  const { db, replica: any } = await startIdentity(callOptions)
  const replica = (env: Record<string, string> = {}) =>
    any({ SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: ENCRYPTION_KEY, ...env })
  const first = await replica()
  const list = (request: Partial<ListAuditRequest> = {}) =>
    first.audit.list({ ...EVERYTHING, ...request })
  return { db, replica, list, ...first }
}

/** The signing keys as a process with these encryption keys sees them. */
export const signingKeys = async (db: Db, encryption_key = ENCRYPTION_KEY, ...previous: string[]) =>
  new CheckpointKeys(await deriveKeyring(db, { encryption_key, previous_keys: previous }))

/** Lets entries of any age be pruned. */
export const allowAnyAge = (db: Db) =>
  db.run(sql`
    create or replace function audit_min_age() returns interval language sql immutable as
      $$ select interval '0 seconds' $$`)

/** Changes the tables as their owner can, with the triggers disabled. */
export const tamper = (db: Db, ...statements: Sql[]) =>
  db.tx(async (tx) => {
    await tx.run(sql`set local session_replication_role = replica`)
    for (const statement of statements) await tx.run(statement)
  })

const EVERYTHING: ListAuditRequest = {
  actor: '',
  action: '',
  object: '',
  outcome: '',
  since: undefined,
  until: undefined,
  after: 0,
  limit: 1_000,
  offset: 0,
}

export const ann = { subject: 'ann', issuer: 'https://idp/', key_prefix: 'wk_1' }
const callOptions = { caller: ann, requestId: 'r-1' }
/** The caller in the form of audit entries. */
export const by = { ...ann, request_id: 'r-1' }
export const robot = { subject: 'robot', external_issuer: 'svc' }

/** On-behalf-of token for an audit entry, signed by the gateway by default. */
export const signedAuditCaller = (caller: Caller, service = 'gateway') =>
  testIdentity(service).signCaller(caller, 'identity', AuditService.record.path)

export const entry = (changes: Partial<AuditRecord> = {}): AuditRecord => ({
  caller: signedAuditCaller(ann),
  request_id: 'r-1',
  action: 'workflow.delete',
  object: 'workflow:team/x',
  outcome: 'done',
  detail_json: '{}',
  ...changes,
})

type Setup = Awaited<ReturnType<typeof auditFixture>>

/** The checkpoints of the log and their keys, as the gateway sends them. */
export async function readList({ audit }: Pick<Setup, 'audit'>): Promise<CheckpointList> {
  const { checkpoints, keys } = await audit.listCheckpoints({ limit: 1_000, offset: 0 })
  return {
    tokens: checkpoints.map(({ token }) => token),
    keys: keys.map(({ key_id, public_key, confirmed }) => ({
      ...{ kid: key_id, x: public_key, confirmed },
    })),
  }
}

interface VerifyOptions {
  pageSize?: number
  /** Ids of the keys that alone are trusted. */
  noted?: string[]
  remembered?: Head
}

/** Verifies the exported chain with the checkpoints of the log. */
export async function verifyChain(
  all: Pick<Setup, 'list' | 'audit'>,
  { pageSize = 1_000, noted, remembered }: VerifyOptions = {},
) {
  const signed = await verifyCheckpoints(await readList(all), nodeCrypto, noted)
  const verifier = new AuditChainVerifier(remembered, undefined, signed.checkpoints)
  for (;;) {
    const page = await all.list({ after: verifier.head.seq, limit: pageSize })
    for (const { seq, at, draft, previous_hash, hash } of page.entries) {
      if (!at || !draft?.by) throw new Error('an entry lacks its time or its caller')
      const { by, ...rest } = draft
      verifier.verifyNext({ seq, at: at.toISOString(), ...by, ...rest, previous_hash, hash })
    }
    if (page.entries.length < pageSize) {
      verifier.verifyEnd({ seq: page.head_seq, hash: page.head_hash })
      const { notes } = verifier
      return { ...signed, notes, problems: [...signed.problems, ...verifier.problems] }
    }
  }
}

/** Problems of the chain that its export reveals. */
export const findChainProblems = async (
  all: Pick<Setup, 'list' | 'audit'>,
  pageSize?: number,
): Promise<string[]> =>
  (await verifyChain(all, pageSize === undefined ? {} : { pageSize })).problems
