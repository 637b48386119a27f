import type { Command, Execution, Result } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { ID } from './assert-response.ts'
import { refuse } from './executions-fake.ts'
import { startGateway, workflow } from './gateway-fixture.ts'
import { fakeSecrets } from './secrets-fake.ts'

const RUNNING: Execution = {
  execution_id: ID,
  workflow_id: 'a'.repeat(32),
  workflow_namespace: 'default',
  workflow_name: 'hello',
  workflow_version: 1,
  state: 'RUNNING',
  worker_name: 'w1',
  claim_generation: 7,
  input_json: 'null',
  last_seq: 0,
  created_at: undefined,
  updated_at: undefined,
  worker_session: '',
}

interface Scene {
  /** Answer of the executions service to the check of the claim. */
  verdict?: Result
  state?: string
  declared?: string[]
  isDeleted?: boolean
}

async function setup({
  verdict,
  state = 'RUNNING',
  declared = ['a', 'b c'],
  isDeleted,
}: Scene = {}) {
  const { values, handlers } = fakeSecrets('Secret')
  values.set('a', '9007199254740993').set('b c', '"canary"').set('other', '"canary"')
  const commands: Command[] = []
  const execution = { ...RUNNING, state }
  const held: Result = { body: { $case: 'execution', value: execution }, log: [] }
  const made = await startGateway({
    secrets: handlers,
    executions: {
      async submit(request) {
        commands.push(...request.commands)
        return { results: request.commands.map(() => verdict ?? held) }
      },
      get: async () => ({ executions: [execution] }),
    },
    catalog: {
      async getById({ id }) {
        if (isDeleted) throw new Fault('not_found', 'Workflow not found')
        return workflow({ id, metadata_json: JSON.stringify({ secret_requests: declared }) })
      },
    },
  })
  const send = async (body: string, headers: Record<string, string> = {}) => {
    const response = await made.call('POST', '/workers/w1/secrets/batch', {
      body: Buffer.from(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
    return { status: response.status, text: await response.text() }
  }
  const ask = (names: string[], headers = {}) =>
    send(JSON.stringify({ execution_id: ID, names }), headers)
  return { ...made, commands, values, send, ask }
}

const refusal = (detail: string) => JSON.stringify({ detail })
const STALE = refuse('conflict', 'stale-claim: it has another owner')

test('claim holder: gets the declared secrets as they were stored', async () => {
  const { ask, commands } = await setup()
  expect(await ask(['b c', 'a', 'a'], { 'x-svc-claim-generation': '7' })).toEqual({
    status: 200,
    text: '{"b c":"canary","a":9007199254740993}',
  })
  expect(commands).toMatchObject([
    {
      execution_id: ID,
      body: { $case: 'verify', value: { writer: { worker_name: 'w1', claim_generation: 7 } } },
    },
  ])
  expect(await ask([])).toEqual({ status: 200, text: '{}' })
})

test('undeclared secrets: refused by name, whether they exist or not', async () => {
  const { ask } = await setup()
  expect(await ask(['zzz', 'other', 'a', '__proto__'])).toEqual({
    status: 403,
    text: refusal("Secrets not declared by workflow: ['__proto__', 'other', 'zzz']"),
  })
  const plain = await setup({ declared: [] })
  expect((await plain.ask(['a'])).status).toBe(403)
})

test('a declared secret that is absent: named', async () => {
  const { ask, values } = await setup()
  values.delete('a')
  expect(await ask(['b c', 'a'])).toEqual({
    status: 404,
    text: refusal("The following secrets were not found: ['a']"),
  })
})

test.each([
  ["another worker's", {}, 'RUNNING', 403],
  ['a finished one', {}, 'COMPLETED', 403],
  ['a finished one, with its claim', { 'x-svc-claim-generation': '6' }, 'COMPLETED', 403],
  ['one under a later claim', { 'x-svc-claim-generation': '6' }, 'RUNNING', 409],
  ['one under the claim of another', { 'x-flux-claim-generation': '7' }, 'RUNNING', 403],
])('%s: no secret is disclosed', async (_, headers, state, expected) => {
  const { ask } = await setup({ verdict: STALE, state })
  const { status, text } = await ask(['a'], headers)
  expect([status, text]).toEqual([
    expected,
    refusal(
      expected === 409 ? 'stale-claim: it has another owner' : 'Worker does not own this execution',
    ),
  ])
})

test('an absent execution or workflow: 404 with the text of the protocol', async () => {
  const lost = await setup({ verdict: refuse('not_found', `Execution '${ID}' not found`) })
  const unknown = { status: 404, text: refusal('Execution not found') }
  expect(await lost.ask(['a'])).toEqual(unknown)
  expect(await lost.send('{"execution_id":"x","names":["a"]}')).toEqual(unknown)
  const deleted = await setup({ isDeleted: true })
  expect(await deleted.ask(['a'])).toEqual({ status: 404, text: refusal('Workflow not found') })
})

const NOT_NAMES = "'names' must be a list of strings"
const bodies: Record<string, [body: string, status: number, detail?: string]> = {
  'no body': ['', 422],
  'a list': ['["a"]', 422],
  'half a body': ['{"execution_id":"', 422],
  'no names': [`{"execution_id":"${ID}"}`, 400, NOT_NAMES],
  'a string for the names': [`{"execution_id":"${ID}","names":"a"}`, 400, NOT_NAMES],
  'a number among the names': [`{"execution_id":"${ID}","names":["a",1]}`, 400, NOT_NAMES],
  'no execution': ['{"names":["a"]}', 400, "'execution_id' is required"],
  'a number for the execution': [
    '{"names":[],"execution_id":1}',
    400,
    "'execution_id' is required",
  ],
  'a hundred thousand names': [
    JSON.stringify({ execution_id: ID, names: Array.from({ length: 100_000 }, () => 'a') }),
    413,
  ],
}

test.each(Object.entries(bodies))('%s', async (_, [body, expected, detail]) => {
  const { send, commands } = await setup()
  const { status, text } = await send(body)
  expect(status, text).toBe(expected)
  if (detail) expect(JSON.parse(text)).toEqual({ detail })
  expect(commands).toEqual([])
})

test('token of another worker: refused before any lookup', async () => {
  const { ask, commands } = await setup()
  const { status } = await ask(['a'], { authorization: 'Bearer session-of-w2' })
  expect(status).toBe(403)
  expect(commands).toEqual([])
})
