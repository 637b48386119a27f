import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import {
  ConfigsService,
  type PutEntryRequest,
  SecretsService,
  type UseEntriesRequest,
} from '@windlass/proto/windlass/identity/v1/secrets'
import { RpcDenied } from '@windlass/rpc/authorizer'
import type { Call } from '@windlass/rpc/call'
import { testIdentity } from '@windlass/testkit/service-identity'
import { expect, test } from 'vitest'
import { ID } from './assert-response.ts'
import { refuse } from './executions-fake.ts'
import { startGateway, workflow } from './gateway-fixture.ts'

/** gRPC status of an rpc that a server does not know. */
const UNIMPLEMENTED = 12
const VERSION = 'b'.repeat(32)
const RUNNING: Execution = {
  ...{ execution_id: ID, workflow_id: VERSION, workflow_namespace: 'team', workflow_name: 'job' },
  ...{ workflow_version: 2, state: 'RUNNING', worker_name: 'w1', claim_generation: 7 },
  ...{ input_json: 'null', last_seq: 0, created_at: undefined, updated_at: undefined },
  ...{ worker_session: '', starter: { subject: 'ann', issuer: 'https://issuer' } },
}
const UPLOADER = { subject: 'bob', issuer: 'svc' }

/** A gateway with an execution of `team/job` version 2, and the uses that identity receives. */
async function setup(isHeld = true, refuseUse?: () => Promise<never>) {
  const uses: { request: UseEntriesRequest; call: Call }[] = []
  const answer = async (request: UseEntriesRequest, call: Call) => {
    uses.push({ request, call })
    return { entries: request.names.map((name) => ({ name, value_json: '1' })) }
  }
  const use = refuseUse ?? answer
  const all = async () => ({ entries: [{ name: 'a', value_json: '"unrestricted"' }] })
  const made = await startGateway(
    {
      secrets: { use, getMany: all },
      configs: { use, getMany: all },
      executions: {
        submit: async ({ commands }) => ({
          results: commands.map(() =>
            isHeld
              ? { body: { $case: 'execution', value: { ...RUNNING, starter: undefined } }, log: [] }
              : refuse('conflict', 'stale-claim: it has another owner'),
          ),
        }),
        get: async () => ({ executions: [RUNNING] }),
      },
      catalog: {
        getById: async ({ id }) =>
          workflow({
            ...{ id, namespace: 'team', name: 'job', version: 2 },
            metadata_json: '{"secret_requests":["a"]}',
            ...{ created_by: UPLOADER.subject, created_by_issuer: UPLOADER.issuer },
          }),
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    made.json('POST', path, body, { authorization: 'Bearer session-of-w1', ...headers })
  return { send, uses }
}

const running = {
  ...{ namespace: 'team', workflow: 'job', workflow_version: 2, execution_id: ID },
  ...{ worker_name: 'w1', names: ['a'] },
}

test('secrets for a worker: identity decides by the running version, its uploader and the starter', async () => {
  const { send, uses } = await setup()
  const body = { execution_id: ID, names: ['a'] }
  const one = await send('/workers/w1/secrets/batch', body)
  expect([one.status, await one.json()]).toEqual([200, { a: 1 }])
  await send('/workers/w1/secrets/batch?version=previous', body)
  expect(uses.map(({ request }) => request)).toMatchObject([
    { ...running, previous: false, client_address: '127.0.0.1' },
    { ...running, previous: true },
  ])
  const [{ request, call } = {}] = uses
  expect(call?.caller).toEqual({ subject: 'ann', issuer: 'https://issuer' })
  const identity = testIdentity('identity')
  const uploader = identity.verifyCaller(
    request?.uploader ?? '',
    'gateway',
    SecretsService.use.path,
  )
  expect(uploader).toEqual(UPLOADER)
  expect((await send('/workers/w1/secrets/batch?version=first', body)).status).toBe(422)
})

test('configs for a worker: those of the execution that it names and holds', async () => {
  const { send, uses } = await setup()
  const headers = { 'x-svc-execution-id': ID, 'x-svc-claim-generation': '7' }
  const one = await send('/admin/configs/batch', ['a'], headers)
  expect([one.status, await one.json()]).toEqual([200, { a: 1 }])
  expect(uses[0]?.request).toMatchObject(running)
  const uploader = testIdentity('identity').verifyCaller(
    uses[0]?.request.uploader ?? '',
    'gateway',
    ConfigsService.use.path,
  )
  expect(uploader).toEqual(UPLOADER)
})

test('configs for a worker that names no execution: no workflow is assumed', async () => {
  const { send, uses } = await setup()
  expect((await send('/admin/configs/batch', ['a'])).status).toBe(200)
  expect(uses[0]?.request).toMatchObject({ namespace: '', workflow: '', execution_id: '' })
})

test('configs for an execution of another worker: refused', async () => {
  const { send, uses } = await setup(false)
  const response = await send('/admin/configs/batch', ['a'], { 'x-svc-execution-id': ID })
  expect([response.status, await response.json()]).toEqual([
    403,
    { detail: 'Worker does not own this execution' },
  ])
  expect(uses).toEqual([])
})

test('identity of an earlier release: a worker is answered 503, never an unchecked value', async () => {
  const { send } = await setup(true, async () => {
    throw new RpcDenied(UNIMPLEMENTED, 'unknown rpc use')
  })
  const body = { execution_id: ID, names: ['a'] }
  for (const response of [
    await send('/workers/w1/secrets/batch', body),
    await send('/admin/configs/batch', ['a'], { 'x-svc-execution-id': ID }),
    await send('/admin/configs/batch', ['a']),
  ]) {
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('upgrade all of its replicas')
  }
})

const STORED = {
  name: 'a',
  value_json: '',
  namespaces: { items: ['team-*'], all: false },
  workflows: { items: [], all: true },
}
const kinds = [
  { kind: 'secrets', versioned: { version: 3, previous_until: new Date(0) } },
  { kind: 'configs', versioned: {} },
] as const

test.each(kinds)('$kind: patterns are stored and answered', async ({ kind, versioned }) => {
  const puts: PutEntryRequest[] = []
  const entry = { ...STORED, ...versioned }
  const { call, json } = await startGateway({
    [kind]: {
      async put(request: PutEntryRequest) {
        puts.push(request)
        return { entry }
      },
      get: async () => ({ ...entry, value_json: '1' }),
      list: async () => ({ names: ['a'], entries: [entry] }),
    },
  })
  const details = {
    ...{ namespaces: ['team-*'], workflows: null },
    ...(kind === 'secrets' && { version: 3, previous_until: '1970-01-01T00:00:00.000Z' }),
  }
  const body = { name: 'a', value: 1, namespaces: ['team-*'], workflows: null }
  const more = kind === 'secrets' ? { keep_previous: 60 } : {}
  const saved = await json('POST', `/admin/${kind}`, { ...body, ...more })
  expect(await saved.json()).toMatchObject({ status: 'success', ...details })
  await json('POST', `/admin/${kind}`, { name: 'a', value: 1 })
  const { value_json: _, ...patterns } = STORED
  expect(puts[0]).toMatchObject({ entry: { ...patterns, value_json: '1' }, ...more })
  expect(puts[1]?.entry).toEqual({
    ...{ name: 'a', value_json: '1', namespaces: undefined, workflows: undefined },
    ...{ version: undefined, previous_until: undefined },
  })

  const get = async (path: string) => (await call('GET', `/admin/${kind}${path}`)).json()
  expect(await get('/a')).toEqual({ name: 'a', value: 1, ...details })
  expect(await get('')).toEqual(['a'])
  expect(await get('?detailed=true')).toEqual([{ name: 'a', ...details }])
  const long = { ...body, namespaces: ['x'.repeat(129)] }
  expect((await json('POST', `/admin/${kind}`, long)).status).toBe(422)
})
