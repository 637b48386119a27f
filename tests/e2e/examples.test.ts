import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { client, example } from './api.ts'
import { HANG_MS, sharedSystem } from './execution-fixture.ts'
import { installedWheel } from './installed-wheel.ts'

const ENV = { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'a key for this test alone' }
const shared = sharedSystem({ singleProcess: true, env: ENV, workers: 0 })
const teardown: (() => unknown)[] = []
let python = ''

beforeAll(async () => {
  python = await installedWheel((one) => teardown.unshift(one))
  await shared().startWorker({ python })
}, 120_000)

afterAll(async () => {
  for (const one of teardown) await one()
})

const LIMIT = { timeout: HANG_MS }

/** Uploads an example and runs one of its workflows to its end. */
async function run(file: string, workflow: string, input: unknown) {
  const api = client(shared().url)
  await api.upload(await example(file))
  return api.run(workflow, 'sync', input)
}

test('workflows of this file: run with the SDK of the wheel', LIMIT, async () => {
  const api = client(shared().url)
  await api.upload(`import windlass

@windlass.workflow
async def tell_place(ctx):
    return windlass.__file__
`)
  const { output } = await api.run('tell_place', 'sync')
  expect(output.startsWith(dirname(dirname(python)))).toBe(true)
})

test.for([
  ['hello_world', 'hello_world', 'World', 'Hello, World'],
  ['progress', 'count_words', ['a b', 'c'], 3],
  ['fan_out', 'count_book', 40, 315],
  ['sub_workflows', 'ship_order', [{ city: 'Rome', items: 2 }], ['2 items for Rome']],
] as const)('example %s: its output', LIMIT, async ([file, workflow, input, output]) => {
  expect(await run(file, workflow, input)).toMatchObject({ state: 'COMPLETED', output })
})

test('example nightly_report: runs, and its upload creates the schedule', LIMIT, async () => {
  const { output } = await run('nightly_report', 'nightly_report', null)
  expect(output).toEqual({ Berlin: 16, Lisbon: 16, Quito: 15, Seoul: 15 })
  const schedules = await client(shared().url).json('GET', '/schedules')
  expect(schedules).toMatchObject([{ name: 'nightly_report_auto' }])
})

test('example retry: the last attempt is answered, or the fallback', LIMIT, async () => {
  const refusals = [500, 503]
  const server = createServer((_, response) => {
    const status = refusals.pop()
    if (status) response.writeHead(status).end()
    else response.end('{"EUR":1,"USD":2}')
  })
  const url = await listen(server)
  const { output } = await run('retry', 'exchange_rates', url)
  expect([output, refusals]).toEqual([{ EUR: 1, USD: 2 }, []])
  const unreachable = await run('retry', 'exchange_rates', 'http://127.0.0.1:9/')
  expect(unreachable.output).toEqual({ EUR: 1 })
})

test('example saga: a booking fails, those before it are cancelled', LIMIT, async () => {
  const { execution_id, state, output } = await run('saga', 'book_trip', ['a', 'b', 'sold out'])
  expect([state, output.type]).toEqual(['FAILED', 'SoldOutError'])
  const { events } = await client(shared().url).status(execution_id)
  const cancelled = events.filter(
    ({ type, name }: { type: string; name: string }) =>
      type === 'TASK_COMPLETED' && name === 'cancel_booking',
  )
  expect(cancelled).toHaveLength(2)
})

test('examples approval and approval_pause: wait for their decisions', LIMIT, async () => {
  const api = client(shared().url)
  await api.upload(await example('approval'))
  const { execution_id } = await api.run('pay_invoices', 'async', [5, 2000])
  await api.until(execution_id, 'PAUSED')
  const path = `/executions/${execution_id}/approvals`
  const [{ task_call_id }] = (await api.json('GET', path)).approvals
  await api.json('POST', `${path}/${encodeURIComponent(task_call_id)}/approve`, {})
  const paid = await api.until(execution_id, 'COMPLETED', 'FAILED')
  expect(paid.output).toEqual(['paid 5', 'paid 2000'])

  await api.upload(await example('approval_pause'))
  const paused = await api.run('approval_pause', 'sync', { amount: 4 }, '?wait_for=paused')
  const resume = `/workflows/default/approval_pause/resume/${paused.execution_id}/sync`
  const { output } = await api.json('POST', resume, { approved: true })
  expect(output.result).toBe('paid 4.0')
})

test('example signed_request: the secret is used and is not in the log', LIMIT, async () => {
  const api = client(shared().url)
  await api.json('POST', '/admin/secrets', { name: 'SIGNING_KEY', value: 'canary-key' })
  const { execution_id, output } = await run('signed_request', 'send_signed', ['hello'])
  expect(output).toEqual([expect.stringMatching(/^hello \([0-9a-f]{8}\)$/)])
  expect(JSON.stringify(await api.status(execution_id))).not.toContain('canary-key')
})

test('example reminder: sleeps for 30 days without failing, and is cancelled', LIMIT, async () => {
  const api = client(shared().url)
  await api.upload(await example('reminder'))
  const { execution_id } = await api.run('remind', 'async', 'ada')
  const sleeps = async () =>
    (await api.status(execution_id)).events.some(({ name }: { name: string }) => name === 'sleep')
  await expect.poll(sleeps, LIMIT).toBe(true)
  await api.json('GET', `/workflows/default/remind/cancel/${execution_id}`)
  await api.until(execution_id, 'CANCELLED')
})

test('example files: sums tables, which are stored in files', LIMIT, async () => {
  const folder = temporaryFolder('tables')
  await writeFile(join(folder, 'a.csv'), 'city,sales\nRome,1.5\nOslo,2\n')
  await writeFile(join(folder, 'b.csv'), 'city,sales\nRome,3\n')
  const source = await example('files')
  const api = client(shared().url)
  await api.upload(source.replace('"tables"', JSON.stringify(join(folder, 'tables'))))
  const { output } = await api.run('sum_sales', 'sync', folder)
  expect(output).toEqual({ Oslo: 2, Rome: 4.5 })
})

test('example streaming_chat: streams words, calls the tool, answers', LIMIT, async () => {
  const chunk = (delta: unknown) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`
  const call = { id: 'c1', function: { name: 'temperature', arguments: '{"ci' } }
  const answers = [
    chunk({ content: 'Let me see. ' }) +
      chunk({ tool_calls: [call] }) +
      chunk({ tool_calls: [{ function: { arguments: 'ty":"Oslo"}' } }] }),
    chunk({ content: 'It is ' }) + chunk({ content: 'cold.' }),
  ]
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    asked.push(body)
    response.end(`${answers.shift()}data: [DONE]\n\n`)
  })
  const input = { server: await listen(server), model: 'm', text: 'how warm is it in Oslo?' }
  const { state, output } = await run('streaming_chat', 'answer_question', input)
  expect([state, output]).toEqual(['COMPLETED', 'It is cold.'])
  expect(asked).toHaveLength(2)
  expect(asked[1]).toContain('4 degrees in Oslo')
})

test(
  'example code_change: an old execution keeps its path, a new one pays tax',
  LIMIT,
  async () => {
    const api = client(shared().url)
    const source = await example('code_change')
    const first = source.replace('if patched("2026-11-tax"):', 'if False:')
    await api.upload(first)
    const old = await api.run('order', 'sync', ['item'], '?wait_for=paused')
    await api.upload(source)
    const young = await api.run('order', 'sync', ['item'], '?wait_for=paused')
    const resume = (id: string) =>
      api.json('POST', `/workflows/default/order/resume/${id}/sync`, {})
    expect((await resume(old.execution_id)).output).toBe('charged 4.00')
    expect((await resume(young.execution_id)).output).toBe('charged 4.80')
  },
)

/** Listens on a free port until the test ends; returns the address. */
async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
