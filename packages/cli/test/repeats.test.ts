import { expect, test } from 'vitest'
import { cliFixture } from './cli-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'

test('execution rerun, fork and diff: send what is given and no more', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set(`POST /executions/${ID}/rerun`, { body: '{"state":"SCHEDULED"}' })
  api.answers.set(`POST /executions/${ID}/fork`, { body: '{"plan":{}}' })
  api.answers.set(`GET /executions/${ID}/diff/${ID}`, { body: '{"a":{}}' })
  expect(await windlass('execution', 'rerun', ID)).toMatchObject({ status: 0 })
  expect(api.seen.at(-1)?.body).toBe('{}')
  await windlass('execution', 'rerun', ID, '--input', '{"n": 1.0}', '--version', '2')
  expect(api.seen.at(-1)?.body).toBe('{"input":{"n": 1.0},"version":2}')
  await windlass('execution', 'fork', ID, '7', '--dry-run')
  expect(api.seen.at(-1)?.body).toBe('{"after_seq":7,"dry_run":true}')
  for (const what of [
    ['rerun', ID],
    ['fork', ID, '7'],
  ]) {
    const route = `POST /executions/${ID}/${what[0]}?priority=2`
    api.answers.set(route, { body: '{"state":"SCHEDULED"}' })
    expect(await windlass('execution', ...what, '--priority', '2')).toMatchObject({ status: 0 })
    expect(api.seen.at(-1)?.route).toBe(route)
    const { status, err } = await windlass('execution', ...what, '--priority', '10')
    expect([status, err]).toEqual([2, expect.stringContaining('a whole number from 0 to 9')])
  }
  expect(await windlass('execution', 'diff', ID, ID)).toMatchObject({ status: 0 })
  expect(await windlass('execution', 'fork', ID, 'x')).toMatchObject({ status: 2 })
})
