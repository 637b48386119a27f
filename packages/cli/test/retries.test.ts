import { expect, test } from 'vitest'
import { cliFixture } from './cli-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'
const RETRY_FOR_MS = 20_000

/** The first answer is a status, each later one a success. */
function failFirst(status: number) {
  let count = 0
  return () => (++count === 1 ? { status, body: '{"detail":"no"}' } : { body: '{"total":0}' })
}

const STARTS: [route: string, argv: string[]][] = [
  ['/workflows/default/a/run/async', ['workflow', 'run', 'a', '--async']],
  [`/executions/${ID}/rerun`, ['execution', 'rerun', ID]],
  [`/executions/${ID}/fork`, ['execution', 'fork', ID, '3']],
]

test.each(STARTS)('%s fails with 502: sent again with the same key', async (route, argv) => {
  const { api, windlass } = await cliFixture({ retryForMs: RETRY_FOR_MS })
  api.answers.set(`POST ${route}`, failFirst(502))
  expect((await windlass(...argv)).status).toBe(0)
  const [first, second] = api.seen.map(({ headers }) => headers['idempotency-key'])
  expect(first).toMatch(/^.{16,}$/)
  expect(second).toBe(first)
  await windlass(...argv)
  expect(api.seen[2]?.headers['idempotency-key']).not.toBe(first)
})

test('workflow run --idempotency-key: sends the key of the caller', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('POST /workflows/default/a/run/async', { body: '{}' })
  await windlass('workflow', 'run', 'a', '--async', '--idempotency-key', 'order-7')
  expect(api.seen[0]?.headers['idempotency-key']).toBe('order-7')
})

test('execution resume fails with 502 or 503: not sent again', async () => {
  for (const status of [502, 503]) {
    const { api, windlass } = await cliFixture({ retryForMs: RETRY_FOR_MS })
    const execution = '{"workflow_namespace":"default","workflow_name":"a"}'
    api.answers.set(`GET /executions/${ID}`, { body: execution })
    api.answers.set(`POST /workflows/default/a/resume/${ID}/async`, failFirst(status))
    expect((await windlass('execution', 'resume', ID, '--async')).status).toBe(1)
    expect(api.seen).toHaveLength(2)
  }
})

test('a read fails with 503: sent again', async () => {
  const { api, windlass } = await cliFixture({ retryForMs: RETRY_FOR_MS })
  api.answers.set(`GET /executions/${ID}`, failFirst(503))
  expect(await windlass('execution', 'show', ID)).toMatchObject({ status: 0, out: '{"total":0}\n' })
})
