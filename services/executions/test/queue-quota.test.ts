import { sql } from '@windlass/runtime/postgres/sql'
import { signedCaller } from '@windlass/testkit/service-identity'
import { expect, test } from 'vitest'
import { clientsOf, create, run, setup, submit, worker } from './executions-fixture.ts'

const refusal = (quota: string) => ({
  kind: 'unavailable',
  message: expect.stringContaining(`has reached its quota of ${quota}; retry later.`),
})

/** Starts an execution; resolves to `created` or to the kind of the refusal. */
const outcome = (...args: Parameters<typeof run>): Promise<string> =>
  run(...args).then(
    () => 'created',
    ({ kind }) => kind,
  )

test.each([
  ['PRINCIPAL', { workflow_namespace: 'other' }],
  ['NAMESPACE', { caller: signedCaller({ subject: 'eve', issuer: 'svc' }) }],
])(
  'queued executions of a %s: above the quota unavailable, until one is leased',
  async (who, same) => {
    const { client } = await setup({ env: { [`SVC_QUOTAS__${who}_QUEUED_EXECUTIONS`]: '3' } })
    for (let i = 0; i < 2; i++) await run(client)
    await run(client, same)
    await expect(run(client)).rejects.toMatchObject(refusal('3 queued executions'))
    await expect(run(client, same)).rejects.toMatchObject(refusal('3 queued executions'))
    await worker(client).lease({ limit: 1 })
    await expect
      .poll(() => run(client).catch((error) => error.kind))
      .toMatchObject({ state: 'SCHEDULED' })
    await expect(run(client)).rejects.toMatchObject(refusal('3 queued executions'))
  },
)

test('queued executions of another principal and namespace: not counted', async () => {
  const { client } = await setup({
    env: {
      SVC_QUOTAS__PRINCIPAL_QUEUED_EXECUTIONS: '1',
      SVC_QUOTAS__NAMESPACE_QUEUED_EXECUTIONS: '1',
    },
  })
  await run(client)
  const caller = signedCaller({ subject: 'eve', issuer: 'svc' })
  await run(client, { caller, workflow_namespace: 'other' })
  await expect(run(client, { caller })).rejects.toMatchObject({ kind: 'unavailable' })
})

test('queued bytes: an input that is stored compressed counts as stored', async () => {
  const { client } = await setup({ env: { SVC_QUOTAS__PRINCIPAL_QUEUED_BYTES: '60000' } })
  const letters = JSON.stringify('a'.repeat(100_000))
  // A create above the quota is refused while a slow count is not repeated yet; clients retry.
  const outcomeOf = (input_json: string) => outcome(client, { input_json })
  for (let i = 0; i < 3; i++) await expect.poll(() => outcomeOf(letters)).toBe('created')
  const numbers = JSON.stringify(Array.from({ length: 6_000 }, () => Math.random()))
  await expect.poll(() => outcomeOf(numbers)).toBe('created')
  await expect(run(client)).rejects.toMatchObject(refusal('60000 queued bytes'))
})

test('R1: creates in parallel: no more are queued than the quota', async () => {
  const { client, db } = await setup({ env: { SVC_QUOTAS__PRINCIPAL_QUEUED_EXECUTIONS: '10' } })
  const commands = Array.from({ length: 200 }, () => create())
  const { results } = await client.submit({ commands }, { timeoutMs: 60_000 })
  expect(await db.rows(sql`select count(*)::int as n from executions`)).toEqual([{ n: 10 }])
  expect(results.filter(({ body }) => body?.$case === 'execution')).toHaveLength(10)
})

test('two replicas: the second one refuses what the first one has admitted', async () => {
  const env = { SVC_QUOTAS__PRINCIPAL_QUEUED_EXECUTIONS: '4' }
  const { client, another } = await setup({ env })
  for (let i = 0; i < 4; i++) await run(client)
  const second = await another()
  const other = clientsOf([second.ports.grpc ?? 0])
  // Its first create counts the queue, in the background.
  await expect.poll(() => outcome(other)).toBe('unavailable')
  other.close()
})

test('a repeated create above the quota: answered with the execution', async () => {
  const { client } = await setup({ env: { SVC_QUOTAS__PRINCIPAL_QUEUED_EXECUTIONS: '1' } })
  const command = create()
  const { execution_id } = await submit(client, command)
  expect(await submit(client, command)).toMatchObject({ execution_id })
  await expect(run(client)).rejects.toMatchObject({ kind: 'unavailable' })
})

test('a run of a leased execution: its token carries the depth', async () => {
  const { client } = await setup()
  await run(client, { depth: 5 })
  const { leases } = await worker(client).lease()
  const [, claims = ''] = (leases[0]?.execution_token ?? '').split('.')
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ depth: 5 })
})
