import { AuditChainVerifier } from '@windlass/domain/audit'
import type { Caller } from '@windlass/domain/caller'
import {
  type AuditRecord,
  AuditService,
  type ListAuditRequest,
} from '@windlass/proto/windlass/identity/v1/audit'
import { testIdentity } from '@windlass/testkit/service-identity'
import { startIdentity } from './identity-fixture.ts'

/** Identity with an empty audit log. */
export async function auditFixture() {
  const { db, replica: any } = await startIdentity(callOptions)
  const replica = () =>
    any({ SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'a key for this test alone' })
  const first = await replica()
  const list = (request: Partial<ListAuditRequest> = {}) =>
    first.audit.list({ ...EVERYTHING, ...request })
  return { db, replica, list, ...first }
}

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

/** Problems of the chain that its export reveals. */
export async function findChainProblems(
  { list }: Pick<Setup, 'list'>,
  pageSize = 1_000,
): Promise<string[]> {
  const verifier = new AuditChainVerifier()
  for (;;) {
    const page = await list({ after: verifier.head.seq, limit: pageSize })
    for (const { seq, at, draft, previous_hash, hash } of page.entries) {
      if (!at || !draft?.by) throw new Error('an entry lacks its time or its caller')
      const { by, ...rest } = draft
      verifier.verifyNext({ seq, at: at.toISOString(), ...by, ...rest, previous_hash, hash })
    }
    if (page.entries.length < pageSize) {
      verifier.verifyEnd({ seq: page.head_seq, hash: page.head_hash })
      return verifier.problems
    }
  }
}
