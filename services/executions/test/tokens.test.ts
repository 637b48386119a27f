import { ExecutionTokens } from '@windlass/runtime/execution-tokens'
import { sql } from '@windlass/runtime/sql'
import { testCluster } from '@windlass/testkit/cluster'
import { expect, test } from 'vitest'
import { create, setup, submit, worker } from './support.ts'

const tokens = new ExecutionTokens('for tests', 60)
const ada = { subject: 'ada', issuer: 'https://issuer' }

test('a lease comes with a token for this execution, worker and generation, in the name of who started it', async () => {
  const { client } = await setup()
  const { execution_id } = await submit(client, create({ caller: testCluster.vouch(ada) }))
  const w = worker(client)
  const { leases } = await w.lease()
  const claims = tokens.read(leases[0]?.execution_token ?? '')
  expect(claims).toMatchObject({
    exec_id: execution_id,
    worker: w.worker_name,
    generation: leases[0]?.execution?.claim_generation,
    sub: 'ada',
    principal_issuer: 'https://issuer',
    scope: 'execution',
  })
})

test('each claim renews the token, also of one that is claimed already', async () => {
  const { client } = await setup()
  const { execution_id } = await submit(client, create({ caller: testCluster.vouch(ada) }))
  const w = worker(client)
  await w.lease()
  for (const _ of ['first', 'again']) {
    const { results } = await client.submit({
      commands: [
        { execution_id, with_log: false, body: { $case: 'claim', value: { writer: w.writer() } } },
      ],
    })
    expect(tokens.read(results[0]?.execution_token ?? '')).toMatchObject({
      exec_id: execution_id,
      worker: w.worker_name,
      sub: 'ada',
    })
  }
})

test('a statement that nobody vouched for starts nothing', async () => {
  const { client, db } = await setup()
  for (const caller of ['ada', JSON.stringify(ada), testCluster.credential()])
    await expect(submit(client, create({ caller }))).rejects.toMatchObject({
      kind: 'unauthenticated',
    })
  expect(await db.rows(sql`select from executions`)).toEqual([])
})
