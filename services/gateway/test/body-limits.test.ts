import { Fault } from '@windlass/runtime/faults'
import { JsonError } from '@windlass/runtime/json/json'
import { expect, onTestFinished, test } from 'vitest'
import { sizeLimit } from '../src/route/body-sizes.ts'
import type { BodyTask, ReaderName } from '../src/route/body-task.ts'
import { BodyThreads } from '../src/route/body-threads.ts'
import { routes } from '../src/routes/index.ts'
import { ID, RUN } from './assert-response.ts'
import { workerUrl } from './body-worker.ts'
import { startGateway } from './gateway-fixture.ts'

const KIBIBYTE = 1_024
const MEBIBYTE = 1_048_576

function startThreads(): BodyThreads {
  const threads = new BodyThreads({ threads: 1, workerUrl })
  onTestFinished(() => threads.stop())
  return threads
}

const limit = sizeLimit('report', { maxBytes: 16 * MEBIBYTE, maxDepth: 512 })
const task = <N extends ReaderName>(reader: N): BodyTask<N> => ({ reader, limit })

/** A buffer of its own, as the body of a request has. */
const ownBytes = (text: string) => {
  const bytes = Buffer.from(text)
  return Buffer.from(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer,
  )
}

const PAYLOAD_ROUTES = [
  'post /admin/configs',
  'post /admin/secrets',
  'post /executions/bulk',
  'post /executions/{execution_id}/fork',
  'post /executions/{execution_id}/rerun',
  'post /schedules',
  'post /workers/{name}/checkpoint/{execution_id}',
  'post /workers/{name}/checkpoints',
  'post /workers/{name}/progress/{execution_id}',
  'post /workflows/{namespace}/{workflow_name}/resume/{execution_id}/{mode}',
  'post /workflows/{namespace}/{workflow_name}/run/{mode}',
  'put /schedules/{schedule_id}',
]

test('a body above 1 MiB: accepted only if it holds a payload', () => {
  const large = routes.filter(({ body: { size } }) => size === 'payload' || size === 'report')
  expect(large.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(PAYLOAD_ROUTES)
  for (const { body, path } of routes)
    expect(body.type === 'application/json', path).toBe(body.size !== undefined)
})

test.each([
  ['/auth/test-token', 64 * KIBIBYTE],
  ['/workers/w1/pong', 64 * KIBIBYTE],
  ['/admin/principals', 64 * KIBIBYTE],
  ['/admin/roles', 256 * KIBIBYTE],
  ['/admin/configs/batch', 256 * KIBIBYTE],
  ['/workers/w1/secrets/batch', 256 * KIBIBYTE],
  [RUN, 16 * MEBIBYTE],
])('%s: a body of more than %i bytes is 413', async (path, maxBytes) => {
  const { call } = await startGateway()
  const headers = { 'content-type': 'application/json' }
  const send = (size: number) =>
    call('POST', path, { headers, body: `"${'x'.repeat(size - 2)}"` }).then(({ status }) => status)
  expect(await send(maxBytes)).not.toBe(413)
  expect(await send(maxBytes + 1)).toBe(413)
})

test('a body of 60 kB with 20,000 members: 422, its values are not made', async () => {
  const { call } = await startGateway()
  const body = `{"permissions":[${'[],'.repeat(20_000)}[]]}`
  const response = await call('POST', '/admin/principals', {
    body,
    headers: { 'content-type': 'application/json' },
  })
  expect(response.status).toBe(422)
  const { detail } = (await response.json()) as { detail: { type: string }[] }
  expect(detail.map(({ type }) => type)).toEqual(['json_too_many'])
})

test('a thousand problems in a body: the refusal lists fifty', async () => {
  const { json } = await startGateway()
  const response = await json('POST', '/admin/roles', {
    name: 'r',
    permissions: Array(1_000).fill(1),
  })
  expect(response.status).toBe(422)
  expect(((await response.json()) as { detail: unknown[] }).detail).toHaveLength(50)
})

test('a schedule with 1 MiB in other members than its input: 413', async () => {
  const { call } = await startGateway()
  const body = `{"name":"s","workflow_name":"a","x":[${'[],'.repeat(350_000)}[]],"input_data":1}`
  const response = await call('POST', '/schedules', {
    body,
    headers: { 'content-type': 'application/json' },
  })
  expect(response.status).toBe(413)
})

test('a body up to 1 MiB: parsed by the event loop; a larger one: by a thread', async () => {
  const threads = startThreads()
  const text = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`
  expect(await threads.parse(ownBytes(text(MEBIBYTE)), task('text'))).toHaveLength(MEBIBYTE)
  expect(threads.jobs).toBe(0)
  expect(await threads.parse(ownBytes(text(MEBIBYTE + 1)), task('text'))).toHaveLength(MEBIBYTE + 1)
  expect(threads.jobs).toBe(1)
})

test('a report of 3 MiB in a thread: every payload is the text that was sent', async () => {
  const output = `{"a":1,"a":9007199254740993,"b":"\\ud800é${'x'.repeat(3 * MEBIBYTE)}"}`
  const report = `{"workflow_id":"x","workflow_namespace":"x","workflow_name":"x","execution_id":"${ID}","state":"COMPLETED","output":${output},"events":[]}`
  const read = await startThreads().parse(ownBytes(report), task('checkpoint'))
  expect(read.output_json).toBe(output)
})

test('refusals in a thread: those of the event loop', async () => {
  const threads = startThreads()
  const failure = (text: string) =>
    threads.parse(ownBytes(text), task('checkpoint')).catch((error) => error)
  const padding = ' '.repeat(MEBIBYTE)
  expect(await failure(`{"a":,${padding}}`)).toMatchObject(
    new JsonError('unexpected character at offset 5', 5),
  )
  expect(await failure(`[${padding}]`)).toBeInstanceOf(Fault)
  const [large, small] = [await failure(`[${padding}]`), await failure('[]')]
  expect(large).toMatchObject({ kind: small.kind, message: small.message, details: small.details })
})

test('an input of 2 MiB is validated in a thread: the same problems as of a small one', async () => {
  const threads = startThreads()
  const schema = { id: 'a', input_schema_json: '{"type":"array","items":{"type":"integer"}}' }
  const problemsOf = (input: string) => threads.check(schema, input).catch(({ details }) => details)
  expect(await problemsOf('[1,"x"]')).toEqual(
    await problemsOf(`[1,"x"${' '.repeat(2 * MEBIBYTE)}]`),
  )
  expect(await problemsOf(`[${'1,'.repeat(MEBIBYTE)}1]`)).toBeUndefined()
  expect(threads.jobs).toBe(2)
})

test('R5: a run with an input of 16 MiB: returned byte for byte', async () => {
  const { call, executions } = await startGateway()
  const body = `["${'é'.repeat(1_000)}",${'1e400,'.repeat(2_700_000)}9007199254740993]`
  const response = await call('POST', RUN, {
    body,
    headers: { 'content-type': 'application/json' },
  })
  expect(response.status).toBe(200)
  const [command] = executions.commands
  expect(command?.body?.$case === 'create' && command.body.value.input_json === body).toBe(true)
})
