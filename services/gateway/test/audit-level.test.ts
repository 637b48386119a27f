import type { AuditDraft } from '@windlass/proto/windlass/identity/v1/audit'
import { expect, test } from 'vitest'
import { draftOf, startGateway } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
const RUN = '/workflows/default/hello/run/async'

/** A gateway with this level, and the entries that it records. */
async function setup(level: string, permissions: string[] = ['*']) {
  const drafts: AuditDraft[] = []
  const principal = serviceAccount()
  const { json, executions } = await startGateway(
    {
      audit: {
        async record({ records }) {
          drafts.push(...records.map(draftOf))
          return { seqs: records.map((_, i) => i + 1) }
        },
      },
      keys: { find: async () => ({ account: { principal, permissions }, expires_at: undefined }) },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true', SVC_AUDIT__LEVEL: level },
  )
  const send = (path: string, body: unknown) =>
    json('POST', path, body, { authorization: `Bearer ${KEY}` })
  return { send, drafts, executions, principal }
}

test('level runs: a run is recorded with its execution, without its input', async () => {
  const { send, drafts, principal } = await setup('runs')
  const response = await send(RUN, { secret: 'canary' })
  const { execution_id } = (await response.json()) as { execution_id: string }
  await expect.poll(() => drafts.length).toBe(1)
  const [draft] = drafts
  expect(draft).toMatchObject({
    ...{ action: 'execution.run', object: 'workflow:default/hello', outcome: 'done' },
    by: { subject: principal.subject },
  })
  expect(JSON.parse(draft?.detail_json ?? '')).toEqual({
    ...{ execution_id, workflow_version: 3 },
    client_address: '127.0.0.1',
  })
})

test('level runs: a denied run is recorded', async () => {
  const { send, drafts } = await setup('runs', ['workflow:other:*'])
  expect((await send(RUN, null)).status).toBe(403)
  await expect.poll(() => drafts.length).toBe(1)
  expect(drafts[0]).toMatchObject({ action: 'execution.run', outcome: 'denied' })
})

test.each(['changes', 'secrets'])('level %s: runs are not recorded', async (level) => {
  const { send, drafts } = await setup(level)
  for (const path of [RUN, '/workflows/default/missing/run/async'])
    expect([200, 403, 404]).toContain((await send(path, null)).status)
  await send('/admin/roles', { name: 'r', permissions: 7 })
  // Recorded after the runs, if those were recorded at all.
  await expect.poll(() => drafts.map(({ action }) => action)).toEqual(['role.create'])
})
