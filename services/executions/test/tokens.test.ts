import { ExecutionTokens } from '@windlass/domain/execution-tokens'
import {
  ApprovalsService,
  ExecutionsService,
} from '@windlass/proto/windlass/executions/v1/executions'
import { sql } from '@windlass/runtime/postgres/sql'
import { clientOf, signedCaller, testIdentity } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { cancel, create, resume, setup, submit, worker } from './executions-fixture.ts'

const tokens = new ExecutionTokens('an execution token secret of the tests', 60)
const ada = { subject: 'ada', issuer: 'https://issuer' }

test('a lease: carries a token for its execution, worker, fencing token and starter', async () => {
  const { client } = await setup()
  const { execution_id } = await submit(client, create({ caller: signedCaller(ada) }))
  const w = worker(client)
  const { leases } = await w.lease()
  const claims = tokens.verify(leases[0]?.execution_token ?? '')
  expect(claims).toMatchObject({
    exec_id: execution_id,
    worker: w.worker_name,
    generation: leases[0]?.execution?.claim_generation,
    sub: 'ada',
    principal_issuer: 'https://issuer',
    scope: 'execution',
  })
})

test('a claim, also a repeated one: renews the execution token', async () => {
  const { client } = await setup()
  const { execution_id } = await submit(client, create({ caller: signedCaller(ada) }))
  const w = worker(client)
  await w.lease()
  for (const _ of ['first', 'again']) {
    const { results } = await client.submit({
      commands: [
        {
          execution_id,
          with_log: false,
          body: { $case: 'claim', value: { writer: w.writer(), awaits_confirmation: false } },
        },
      ],
    })
    expect(tokens.verify(results[0]?.execution_token ?? '')).toMatchObject({
      exec_id: execution_id,
      worker: w.worker_name,
      sub: 'ada',
    })
  }
})

test.each<[string, service: 'gateway' | 'scheduler', { subject: string; issuer: string }]>([
  ['a principal', 'gateway', ada],
  ['no principal', 'gateway', { subject: '', issuer: '' }],
  ['a schedule in the name of a principal', 'scheduler', ada],
])('an execution started by %s: get answers its starter', async (_, service, starter) => {
  const { client, other } = await submitting(service)
  const { execution_id } = await submit(other, create({ caller: signedCaller(starter, service) }))
  const { executions } = await client.get({ execution_ids: [execution_id] })
  expect(executions.map((execution) => execution.starter)).toEqual([starter])
})

const gateway = testIdentity('gateway')
const WRONG = [
  '',
  'ada',
  JSON.stringify(ada),
  gateway.serviceToken('executions'),
  signedCaller(ada, 'scheduler'),
  gateway.signCaller(ada, 'executions', ApprovalsService.decide.path),
  gateway.signCaller(ada, 'identity', ExecutionsService.submit.path),
]

/** A client that calls as this service. */
async function submitting(as: string) {
  const { client, ports } = await setup()
  const addresses = ports.map((port) => `127.0.0.1:${port}`)
  const other = clientOf(ExecutionsService, addresses, { as })
  onTestFinished(() => other.close())
  return { client, other: { ...client, submit: other.submit } }
}

test('the dispatcher: may release, and may not create, report or cancel', async () => {
  const { client, other } = await submitting('dispatcher')
  const caller = signedCaller(ada, 'dispatcher')
  await expect(submit(other, create({ caller }))).rejects.toMatchObject({ kind: 'forbidden' })
  const { execution_id } = await submit(client, create())
  const w = worker(other)
  await w.lease()
  for (const ask of [w.claim, w.verify, (id: string) => w.report(id, 'COMPLETED')])
    await expect(ask(execution_id)).rejects.toMatchObject({ kind: 'forbidden' })
  await expect(cancel(other, execution_id)).rejects.toMatchObject({ kind: 'forbidden' })
  await expect(resume(other, execution_id, 'null')).rejects.toMatchObject({ kind: 'forbidden' })
  expect(await w.release(execution_id)).toMatchObject({ state: 'SCHEDULED', worker_name: '' })
})

test('the scheduler: may create and cancel, and may not send worker commands', async () => {
  const { other: asScheduler } = await submitting('scheduler')
  const caller = signedCaller(ada, 'scheduler')
  const { execution_id } = await submit(asScheduler, create({ caller }))
  const w = worker(asScheduler)
  await w.lease()
  for (const ask of [w.claim, w.release, w.verify, (id: string) => w.report(id, 'COMPLETED')])
    await expect(ask(execution_id)).rejects.toMatchObject({ kind: 'forbidden' })
  expect(await cancel(asScheduler, execution_id)).toMatchObject({ state: 'CANCELLED' })
})

test('an unsigned on-behalf-of token: creates nothing', async () => {
  const { client, db } = await setup()
  for (const caller of WRONG)
    await expect(submit(client, create({ caller }))).rejects.toMatchObject({
      kind: 'unauthenticated',
    })
  expect(await db.rows(sql`select from executions`)).toEqual([])
})
