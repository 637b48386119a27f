import type { AuditDraft, AuditRecord } from '@windlass/proto/windlass/identity/v1/audit'
import { expect, test } from 'vitest'
import { NESTED, QUESTION, type State, setup } from './execution-token-fixture.ts'
import { draftOf } from './gateway-fixture.ts'

test.each<[string, State['starter']]>([
  ['another subject', { subject: 'bob', issuer: 'https://issuer' }],
  ['the same subject of another issuer', { subject: 'ada', issuer: 'svc' }],
  ['another spelling of the subject', { subject: 'Ada', issuer: 'https://issuer' }],
  ['no principal, before authentication was on', { subject: '', issuer: '' }],
])('a genuine token, an execution started by %s: 403', async (_, starter) => {
  const { ask, executions } = await setup({ starter })
  for (const path of [QUESTION, NESTED])
    expect(await ask(path)).toEqual({
      status: 403,
      body: { detail: 'Execution token does not name the principal that started the execution' },
    })
  expect(executions.commands).toEqual([])
})

test('an earlier replica does not name the starter: 503, nothing is started', async () => {
  const { ask, executions } = await setup({ starter: undefined })
  for (const path of [QUESTION, NESTED]) expect((await ask(path)).status).toBe(503)
  expect(executions.commands).toEqual([])
})

test('a token where none is accepted: the audit log names subject and issuer of its principal', async () => {
  const drafts: AuditDraft[] = []
  const record = async ({ records }: { records: AuditRecord[] }) => {
    drafts.push(...records.map(draftOf))
    return { seqs: records.map((_, i) => i + 1) }
  }
  const { ask } = await setup({}, { audit: { record } })
  expect((await ask('/admin/roles/r', undefined, undefined, 'DELETE')).status).toBe(403)
  await expect.poll(() => drafts).toHaveLength(1)
  expect(drafts[0]).toMatchObject({
    outcome: 'denied',
    by: { subject: 'ada', issuer: 'https://issuer' },
  })
})
