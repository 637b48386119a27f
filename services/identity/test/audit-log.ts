import { AuditChainVerifier } from '@windlass/domain/audit'
import type { Caller } from '@windlass/domain/caller'
import {
  type AuditRecord,
  AuditService,
  type ListAuditRequest,
} from '@windlass/proto/windlass/identity/v1/audit'
import { testIdentity } from '@windlass/testkit/service-identity'
import { identities } from './identity.ts'

/** Identity with an audit log of its own. */
export async function setup() {
  const { db, replica: any } = await identities(asking)
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
const asking = { caller: ann, requestId: 'r-1' }
/** How entries name who asked. */
export const by = { ...ann, request_id: 'r-1' }
export const robot = { subject: 'robot', external_issuer: 'svc' }

/** A statement for entries of the audit log, by the gateway unless said. */
export const spokenFor = (caller: Caller, service = 'gateway') =>
  testIdentity(service).signCaller(caller, 'identity', AuditService.record.path)

export const entry = (changes: Partial<AuditRecord> = {}): AuditRecord => ({
  caller: spokenFor(ann),
  request_id: 'r-1',
  action: 'workflow.delete',
  object: 'workflow:team/x',
  outcome: 'done',
  detail_json: '{}',
  ...changes,
})

type Setup = Awaited<ReturnType<typeof setup>>

/** What is wrong with the chain, as whoever exports it finds. */
export async function problems({ list }: Pick<Setup, 'list'>, pageSize = 1_000): Promise<string[]> {
  const check = new AuditChainVerifier()
  for (;;) {
    const page = await list({ after: check.head.seq, limit: pageSize })
    for (const { seq, at, draft, previous_hash, hash } of page.entries) {
      if (!at || !draft?.by) throw new Error('half an entry')
      const { by, ...rest } = draft
      check.verifyNext({ seq, at: at.toISOString(), ...by, ...rest, previous_hash, hash })
    }
    if (page.entries.length < pageSize) {
      check.verifyEnd({ seq: page.head_seq, hash: page.head_hash })
      return check.problems
    }
  }
}
