import { createHmac } from 'node:crypto'
import { ExecutionTokens } from '@windlass/domain/execution-tokens'
import { testIdentity, verifiedStarter } from '@windlass/testkit/service-identity'
import { expect, test } from 'vitest'
import { ID } from './assert-response.ts'
import {
  bearer,
  held,
  NESTED,
  OTHER,
  QUESTION,
  SECRET,
  type State,
  setup,
  token,
} from './execution-token-fixture.ts'
import { startGateway } from './gateway-fixture.ts'

test('a nested run: made for the starter of the execution, with its permissions', async () => {
  const { ask, executions } = await setup()
  expect((await ask(NESTED, token, 1)).status).toBe(200)
  const { body } = executions.commands.at(-1) ?? {}
  const caller = body?.$case === 'create' ? verifiedStarter(body.value.caller) : undefined
  expect(caller).toEqual({ subject: 'ada', issuer: 'https://issuer' })
  expect((await ask('/workflows/default/stranger/run/async')).body).toEqual({
    detail: {
      message: 'Authorization denied',
      missing_permissions: [
        'workflow:default:stranger:run',
        'workflow:default:stranger:task:pay:execute',
        'workflow:default:stranger:task:look:execute',
      ],
    },
  })
})

test.each([
  ['below an outermost execution', undefined, 1],
  ['below a nested one', 30, 31],
  ['at the limit', 31, 32],
])('a nested run %s: one deeper than its parent', async (_, parent, depth) => {
  const { ask, executions } = await setup()
  expect((await ask(NESTED, mintAt(parent), 1)).status).toBe(200)
  const { body } = executions.commands.at(-1) ?? {}
  expect(body?.$case === 'create' && body.value).toMatchObject({
    depth,
    parent_id: held.execution_id,
  })
})

test('a nested run: names its parent, and ends with it only on request', async () => {
  const { ask, executions } = await setup()
  for (const [query, ends] of [
    ['', false],
    ['?on_cancel=leave', false],
    ['?on_cancel=cancel', true],
  ] as const) {
    expect((await ask(NESTED + query, mintAt(0), 1)).status).toBe(200)
    const { body } = executions.commands.at(-1) ?? {}
    expect(body).toMatchObject({
      value: { parent_id: held.execution_id, cancel_with_parent: ends },
    })
  }
  expect((await ask(`${NESTED}?on_cancel=stop`, mintAt(0), 1)).status).toBe(422)
})

test.each([true, false])(
  'a nested run beyond max_nesting, authentication %s: 400 names the limit',
  async (isOn) => {
    const { ask, executions } = await setup({ isOn })
    expect(await ask(NESTED, mintAt(32), 1)).toEqual({
      status: 400,
      body: { detail: expect.stringContaining('33 deep, and [svc.quotas].max_nesting is 32') },
    })
    expect(executions.commands).toEqual([])
  },
)

const mintAt = (depth: number | undefined) =>
  new ExecutionTokens(SECRET, 3_600).mint({ ...held, depth: depth as number })

const DENIED = {
  authorized: false,
  missing_permission: 'workflow:default:parent:task:look:execute',
}

test.each<[string, task: string, answer: object]>([
  ['permitted to the starter', 'pay', { status: 200, body: { authorized: true } }],
  [
    'denied to the starter',
    'look',
    { status: 403, body: { detail: expect.objectContaining(DENIED) } },
  ],
  ['exempted by the workflow', 'idle', { status: 200, body: { authorized: true } }],
  ['built into the SDK', 'sleep', { status: 200, body: { authorized: true } }],
  ['unknown', 'dig', { status: 403, body: expect.anything() }],
])('a task %s: authorize answers accordingly', async (_, task, answer) => {
  const { ask } = await setup()
  expect(await ask(`/executions/${ID}/authorize/${task}`)).toEqual(answer)
})

test.each<[string, State, detail: string]>([
  ['completed', { state: 'COMPLETED' }, 'Execution is not active (state: COMPLETED)'],
  ['failed', { state: 'FAILED' }, 'Execution is not active (state: FAILED)'],
  ['cancelled', { state: 'CANCELLED' }, 'Execution is not active (state: CANCELLED)'],
  ['leased again', { claim_generation: 8 }, 'stale-claim: the execution is no longer held'],
  ['held by another worker', { worker_name: 'w2' }, 'stale-claim: the execution is no longer held'],
  ['paused', { state: 'PAUSED', worker_session: '' }, 'stale-claim: the execution is no longer'],
  ['started by a disabled principal', { isEnabled: false }, 'Principal is disabled'],
  ['started by a deleted principal', { isKnown: false }, 'Principal not found'],
])('A5, N046: the token of an execution that is %s: 403', async (_, state, detail) => {
  const { ask, executions } = await setup(state)
  for (const path of [QUESTION, NESTED])
    expect(await ask(path)).toEqual({
      status: 403,
      body: { detail: expect.stringContaining(detail) },
    })
  expect(executions.commands).toEqual([])
})

test('N044: the token of an execution, used for another one: 403', async () => {
  const { ask } = await setup()
  expect(await ask(`/executions/${OTHER}/authorize/pay`)).toEqual({
    status: 403,
    body: { detail: 'Execution token is not bound to this execution' },
  })
})

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const exp = Math.floor(Date.now() / 1_000) + 60
const [, body = '', tag = ''] = token.split('.')
const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
const header = encode({ alg: 'HS256', typ: 'JWT' })
const signed = (secret: string, text: string) =>
  `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`

test.each<[string, string]>([
  ['with an empty secret', signed('', `${header}.${encode({ ...claims, exp })}`)],
  ['with the bare secret', signed(SECRET, `${header}.${encode({ ...claims, exp })}`)],
  ['with the algorithm none', `${encode({ alg: 'none' })}.${body}.`],
  ['for another execution', `${header}.${encode({ ...claims, exec_id: OTHER })}.${tag}`],
  ['for another principal', `${header}.${encode({ ...claims, sub: 'root' })}.${tag}`],
  ['for another cluster', new ExecutionTokens('another', 60).mint(held)],
  ['past its expiry', new ExecutionTokens(SECRET, -1).mint(held)],
  ['for a service', testIdentity('gateway').serviceToken('identity')],
])('N048: a token %s: 401', async (_, forged) => {
  const { ask } = await setup()
  for (const path of [QUESTION, NESTED])
    expect(await ask(path, forged)).toEqual({
      status: 401,
      body: { detail: 'Invalid or expired token' },
    })
})

test.each<[string, string]>([
  ['GET', '/admin/principals'],
  ['GET', '/admin/secrets'],
  ['POST', '/auth/test-token'],
  ['GET', '/auth/permissions'],
  ['GET', '/schedules'],
  ['GET', '/workers'],
  ['GET', '/workflows'],
  ['GET', '/executions'],
  ['GET', `/executions/${ID}`],
  ['GET', '/admin/configs'],
  ['POST', '/workers/w1/pong'],
  ['POST', `/workers/w1/claim/${ID}`],
  ['POST', `/workflows/default/parent/resume/${ID}/async`],
  ['GET', `/workflows/default/parent/cancel/${ID}`],
  ['GET', '/approvals'],
])('N047: an execution token at %s %s: 403', async (method, path) => {
  const { ask } = await setup()
  const response = await ask(path, token, undefined, method)
  expect(response).toEqual({
    status: 403,
    body: { detail: expect.stringContaining('Permission denied') },
  })
})

test('N045: a caller without an execution token: may decide an approval, not request one', async () => {
  const key = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
  const principal = {
    ...{ id: ID, subject: 'bob', external_issuer: 'svc', type: 'service_account' },
    ...{ display_name: undefined, enabled: true, roles: [] },
  }
  const { json, call } = await startGateway(
    {
      keys: {
        find: async () => ({
          account: { principal, permissions: ['*'] },
          expires_at: undefined,
        }),
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  expect((await call('POST', QUESTION, { headers: bearer(key) })).status).toBe(403)
  expect((await json('POST', QUESTION, { approved: true }, bearer(key))).status).toBe(404)
})

test('authentication off: tasks are authorized; a token stays bound to its execution', async () => {
  const { ask } = await setup({ isOn: false })
  expect(await ask(QUESTION)).toEqual({ status: 200, body: { authorized: true } })
  expect((await ask(`/executions/${OTHER}/authorize/pay`)).status).toBe(403)
  expect((await ask(NESTED)).status).toBe(200)
})

test('a nested run whose key has expired: the same execution', async () => {
  const { call, executions } = await setup()
  const ids: string[] = []
  for (const key of ['k', 'k', 'l']) {
    executions.expireKeys()
    const headers = { ...bearer(token), 'idempotency-key': key }
    expect((await call('POST', NESTED, { headers })).status).toBe(200)
    ids.push(executions.last)
  }
  expect(ids[1]).toBe(ids[0])
  expect(ids[2]).not.toBe(ids[0])
})
