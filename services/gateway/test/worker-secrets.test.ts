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

interface Setup {
  /** Answer of the executions service to the `verify` command. */
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
}: Setup = {}) {
  const { values, handlers } = fakeSecrets('Secret')
  values.set('a', '9007199254740993').set('b c', '"canary"').set('other', '"canary"')
  const commands: Command[] = []
  const execution = { ...RUNNING, state }
  const verified: Result = { body: { $case: 'execution', value: execution }, log: [] }
  const made = await startGateway({
    secrets: handlers,
    executions: {
      async submit(request) {
        commands.push(...request.commands)
        return { results: request.commands.map(() => verdict ?? verified) }
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
  const getSecrets = (names: string[], headers = {}) =>
    send(JSON.stringify({ execution_id: ID, names }), headers)
  return { ...made, commands, values, send, getSecrets }
}

const refusal = (detail: string) => JSON.stringify({ detail })
const STALE = refuse('conflict', 'stale-claim: it has another owner')

test('the claim holder: the declared secrets, byte for byte', async () => {
  const { getSecrets, commands } = await setup()
  expect(await getSecrets(['b c', 'a', 'a'], { 'x-svc-claim-generation': '7' })).toEqual({
    status: 200,
    text: '{"b c":"canary","a":9007199254740993}',
  })
  expect(commands).toMatchObject([
    {
      execution_id: ID,
      body: { $case: 'verify', value: { writer: { worker_name: 'w1', claim_generation: 7 } } },
    },
  ])
  expect(await getSecrets([])).toEqual({ status: 200, text: '{}' })
})

test('undeclared secrets: 403 naming them, whether or not they exist', async () => {
  const { getSecrets } = await setup()
  expect(await getSecrets(['zzz', 'other', 'a', '__proto__'])).toEqual({
    status: 403,
    text: refusal("Secrets not declared by workflow: ['__proto__', 'other', 'zzz']"),
  })
  const plain = await setup({ declared: [] })
  expect((await plain.getSecrets(['a'])).status).toBe(403)
})

test('a declared secret that does not exist: 404 naming it', async () => {
  const { getSecrets, values } = await setup()
  values.delete('a')
  expect(await getSecrets(['b c', 'a'])).toEqual({
    status: 404,
    text: refusal("The following secrets were not found: ['a']"),
  })
})

test.each([
  ['held by another worker', 403, {}, 'RUNNING'],
  ['already terminal', 403, {}, 'COMPLETED'],
  ['already terminal, with its claim', 403, { 'x-svc-claim-generation': '6' }, 'COMPLETED'],
  ['under a later claim', 409, { 'x-svc-claim-generation': '6' }, 'RUNNING'],
  ['under the claim of another worker', 403, { 'x-flux-claim-generation': '7' }, 'RUNNING'],
])('an execution %s: %i, no secret is answered', async (_, expected, headers, state) => {
  const { getSecrets } = await setup({ verdict: STALE, state })
  const { status, text } = await getSecrets(['a'], headers)
  expect([status, text]).toEqual([
    expected,
    refusal(
      expected === 409 ? 'stale-claim: it has another owner' : 'Worker does not own this execution',
    ),
  ])
})

test('an unknown execution or workflow: 404 with the text of the protocol', async () => {
  const lost = await setup({ verdict: refuse('not_found', `Execution '${ID}' not found`) })
  const unknown = { status: 404, text: refusal('Execution not found') }
  expect(await lost.getSecrets(['a'])).toEqual(unknown)
  expect(await lost.send('{"execution_id":"x","names":["a"]}')).toEqual(unknown)
  const deleted = await setup({ isDeleted: true })
  expect(await deleted.getSecrets(['a'])).toEqual({
    status: 404,
    text: refusal('Workflow not found'),
  })
})

const NOT_NAMES = "'names' must be a list of strings"
const bodies: Record<string, [body: string, status: number, detail?: string]> = {
  'no body': ['', 422],
  'a list': ['["a"]', 422],
  'a truncated body': ['{"execution_id":"', 422],
  'no names': [`{"execution_id":"${ID}"}`, 400, NOT_NAMES],
  'a string as names': [`{"execution_id":"${ID}","names":"a"}`, 400, NOT_NAMES],
  'a number among the names': [`{"execution_id":"${ID}","names":["a",1]}`, 400, NOT_NAMES],
  'no execution_id': ['{"names":["a"]}', 400, "'execution_id' is required"],
  'a number as execution_id': ['{"names":[],"execution_id":1}', 400, "'execution_id' is required"],
  'a hundred thousand names': [
    JSON.stringify({ execution_id: ID, names: Array.from({ length: 100_000 }, () => 'a') }),
    413,
  ],
}

test.each(
  Object.entries(bodies).map(
    ([what, [body, status, detail]]) => [what, status, body, detail] as const,
  ),
)('%s: %i', async (_, expected, body, detail) => {
  const { send, commands } = await setup()
  const { status, text } = await send(body)
  expect(status, text).toBe(expected)
  if (detail) expect(JSON.parse(text)).toEqual({ detail })
  expect(commands).toEqual([])
})

test('a token of another worker: 403, the executions service is not called', async () => {
  const { getSecrets, commands } = await setup()
  const { status } = await getSecrets(['a'], { authorization: 'Bearer session-of-w2' })
  expect(status).toBe(403)
  expect(commands).toEqual([])
})
