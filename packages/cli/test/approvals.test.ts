import { expect, test } from 'vitest'
import { cliFixture } from './cli-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'
const CALL = 'pay/1 ü'
const ROUTE = `/executions/${ID}/approvals/${encodeURIComponent(CALL)}`

test('approval list: sends every filter and prints the calls that wait', async () => {
  const { api, windlass } = await cliFixture()
  const filters: [option: string, parameter: string, value: string][] = [
    ['status', 'status', 'all'],
    ['execution', 'execution_id', ID],
    ['namespace', 'workflow_namespace', 'team'],
    ['workflow', 'workflow_name', 'pay'],
    ['task', 'task_name', 'send'],
    ['age-min', 'age_min', 'PT30M'],
    ['limit', 'limit', '5'],
    ['offset', 'offset', '10'],
  ]
  const query = new URLSearchParams(filters.map(([, ...sent]): [string, string] => sent))
  const approval = { execution_id: ID, task_call_id: CALL, workflow_name: 'pay', status: 'pending' }
  const answer = JSON.stringify({ approvals: [{ ...approval, requested_at: 't' }], total: 1 })
  api.answers.set(`GET /approvals?${query}`, { body: answer })
  const argv = filters.map(([option, , value]) => `--${option}=${value}`)
  const { status, out } = await windlass('approval', 'list', ...argv)
  expect(status).toBe(0)
  expect(out).toMatch(new RegExp(`${ID} +${CALL} +pay +pending +t\n$`))
  expect((await windlass('approval', 'list', ...argv, '--json')).out).toBe(`${answer}\n`)
})

test('approval show, approve and reject: name the call, send the reason', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set(`GET ${ROUTE}`, { body: '{"status": "pending"}' })
  expect((await windlass('approval', 'show', ID, CALL)).out).toBe('{"status": "pending"}\n')
  api.answers.set(`POST ${ROUTE}/approve`, { body: '{"status":"approved"}' })
  api.answers.set(`POST ${ROUTE}/reject`, { body: '{"status":"rejected"}' })
  await windlass('approval', 'approve', ID, CALL)
  await windlass('approval', 'approve', ID, CALL, '--always', '--reason', 'a "b"')
  await windlass('approval', 'reject', ID, CALL, '--reason', 'no')
  expect(api.seen.slice(1).map(({ body }) => body)).toEqual([
    '{}',
    '{"reason":"a \\"b\\"","always":true}',
    '{"reason":"no"}',
  ])
})

test('a call that was decided before: status 1 and the decision', async () => {
  const { api, windlass } = await cliFixture()
  const body = '{"error":"already_decided","current_status":"rejected","decided_at":"t"}'
  api.answers.set(`POST ${ROUTE}/approve`, { status: 409, body })
  expect(await windlass('approval', 'approve', ID, CALL)).toMatchObject({
    status: 1,
    err: 'windlass: the server refused the request (409): the approval was decided before: it is rejected\n',
  })
})

test('an approval of no call: exit status 2', async () => {
  const { api, windlass } = await cliFixture()
  for (const call of ['', '..', 'a\u001b', 'x'.repeat(257)])
    expect((await windlass('approval', 'show', ID, call)).status).toBe(2)
  expect(api.seen).toEqual([])
})
