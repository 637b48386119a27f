import { query } from '@windlass/testkit/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { type ClaimedExecution, idleWorker } from './idle-worker.ts'
import { claimHeaders } from './worker-fixture.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem
let worker: Awaited<ReturnType<typeof idleWorker>>
/** Claimed executions of the workflows `victim/x` and `attacker/x`, which declare the same secret. */
let ours: ClaimedExecution
let theirs: ClaimedExecution
let attacker: { subject: string; key: string }

const options = ', secret_requests=["db", "open"]'

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one))
  await auth.requestOk('POST /admin/roles', {
    body: { name: 'attackers', permissions: ['workflow:attacker:*'] },
  })
  attacker = await auth.createAccount(['attackers'])
  expect((await auth.upload(workflowSource('victim', 'x', options))).status).toBe(200)
  expect((await auth.upload(workflowSource('attacker', 'x', options), attacker.key)).status).toBe(
    200,
  )
  const patterns = { namespaces: ['victim'] }
  await auth.requestOk('POST /admin/secrets', {
    body: { name: 'db', value: 'canary', ...patterns },
  })
  await auth.requestOk('POST /admin/configs', { body: { name: 'db', value: 'host', ...patterns } })
  await auth.requestOk('POST /admin/secrets', { body: { name: 'open', value: 1 } })
  await auth.requestOk('POST /admin/configs', { body: { name: 'open', value: 1 } })

  worker = await idleWorker(auth, 'w')
  teardown.push(() => worker.disconnect())
  const run = async (namespace: string, token = auth.admin) =>
    worker.claim(
      (await auth.requestOk(`POST /workflows/${namespace}/x/run/async`, { token, body: null }))
        .execution_id ?? '',
    )
  ours = await run('victim')
  theirs = await run('attacker', attacker.key)
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

const secrets = ({ execution_id, generation }: ClaimedExecution, ...names: string[]) =>
  worker.call('secrets/batch', { execution_id, names }, claimHeaders(generation))

const configs = (claimed: ClaimedExecution | undefined, ...names: string[]) =>
  auth.request('POST /admin/configs/batch', {
    token: worker.token,
    body: names,
    headers: claimed && {
      'x-svc-execution-id': claimed.execution_id,
      ...claimHeaders(claimed.generation),
    },
  })

test('secret of another namespace, declared by the running version: answered like a missing one', async () => {
  expect(await secrets(ours, 'db')).toMatchObject({ status: 200, body: { db: 'canary' } })
  for (const names of [['db'], ['open', 'db']])
    expect(await secrets(theirs, ...names)).toMatchObject({
      status: 404,
      body: { detail: "The following secrets were not found: ['db']" },
    })
  expect(await secrets(theirs, 'open')).toMatchObject({ status: 200, body: { open: 1 } })
})

test('config of another namespace: a worker gets it for an execution of that namespace only', async () => {
  expect(await configs(ours, 'db')).toMatchObject({ status: 200, body: { db: 'host' } })
  for (const claimed of [theirs, undefined]) {
    expect(await configs(claimed, 'db')).toMatchObject({
      status: 404,
      body: { detail: "The following configs were not found: ['db']" },
    })
    expect(await configs(claimed, 'open')).toMatchObject({ status: 200, body: { open: 1 } })
  }
})

test('a later version in the attacked namespace: the patterns of the running version decide', async () => {
  expect(
    (await auth.upload(workflowSource('victim', 'x', `${options}, durability="durable"`))).status,
  ).toBe(200)
  expect(await secrets(theirs, 'db')).toMatchObject({ status: 404 })
  expect(await secrets(ours, 'db')).toMatchObject({ status: 200 })
})

test('a new installation: patterns are enforced without a setting', async () => {
  const rows = await query(auth.system.database, 'select secrets_policy from identity.installation')
  expect(rows).toEqual([{ secrets_policy: 'scoped' }])
})
