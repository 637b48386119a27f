import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'

const source = (finish: string) => `
import uuid
from datetime import timedelta

from windlass import ExecutionContext, pause, task, workflow

@task
async def draw(n: int) -> str:
    return uuid.uuid4().hex

@task
async def finish(first: str, second: str, answer: str) -> list[str]:
    ${finish}

@workflow.with_options(timeout=timedelta(seconds=60))
async def report(ctx: ExecutionContext):
    first = await draw(1)
    answer = await pause("question")
    second = await draw(2)
    return await finish(first, second, answer)
`

interface LogEvent {
  type: string
  name: string
  value: unknown
}
const typesOf = (events: LogEvent[], name: string) =>
  events.filter((event) => event.name === name).map(({ type }) => type)

test('a failed execution forked with a corrected version: continues after the entry with all outcomes', async () => {
  const system = await startSystem({ singleProcess: true })
  const api = client(system.url)
  await api.upload(source('raise ValueError("broken")'))
  const { execution_id: id } = await api.run('report', 'async', { order: 17 }, '?tags=order=17')
  await api.until(id, 'PAUSED')
  await api.json('POST', `/workflows/default/report/resume/${id}/async`, 'yes')
  const failed = await api.until(id, 'FAILED')
  await api.upload(source('return [first, second, answer]'))

  // The last entry before the call that failed.
  const { entries } = await api.json('GET', `/executions/${id}/log?limit=1000`)
  const after_seq = entries.find((one: { name: string }) => one.name === 'finish').seq - 1
  const body = { after_seq, version: 2 }
  const { plan } = await api.json('POST', `/executions/${id}/fork`, { ...body, dry_run: true })
  expect(plan).toMatchObject({ calls: 3, runs_again: [{ name: 'finish', seq: after_seq + 1 }] })

  const { execution } = await api.json('POST', `/executions/${id}/fork`, body)
  const done = await api.until(execution.execution_id, 'COMPLETED', 'FAILED')
  const drawn = failed.events
    .filter((event: LogEvent) => event.type === 'TASK_COMPLETED' && event.name === 'draw')
    .map(({ value }: { value: { metadata: { value: string } } }) => value.metadata.value)
  expect(drawn).toHaveLength(2)
  expect([done.state, done.output]).toEqual(['COMPLETED', [...drawn, 'yes']])
  expect(typesOf(done.events, 'draw')).toEqual(typesOf(failed.events, 'draw'))
  expect(typesOf(done.events, 'finish')).toEqual(['TASK_STARTED', 'TASK_COMPLETED'])
  expect(done.input).toEqual({ order: 17 })

  const { executions } = await api.json('GET', '/executions?tags=order=17')
  expect(executions).toMatchObject([{ origin_id: id, origin_seq: after_seq }, { origin_id: null }])
  const diff = await api.json('GET', `/executions/${id}/diff/${execution.execution_id}`)
  expect(diff).toMatchObject({
    ...{ same_version: false, input: { same: true }, output: { same: false } },
    calls: { same: 3, different: 1, first: { name: 'finish', kind: 'state' } },
  })

  // Before the pause: the fork asks again.
  const paused = entries.find((one: { type: string }) => one.type === 'WORKFLOW_PAUSED').seq
  const early = await api.json('POST', `/executions/${id}/fork`, { after_seq: paused, version: 2 })
  await api.until(early.execution.execution_id, 'PAUSED')
  const resume = `/workflows/default/report/resume/${early.execution.execution_id}/sync`
  const answered = await api.json('POST', resume, 'no')
  expect(answered.output[0]).toBe(drawn[0])
  expect(answered.output.slice(1)).toEqual([expect.not.stringContaining(drawn[1]), 'no'])

  // Again from the start, with another input.
  const rerun = await api.json('POST', `/executions/${id}/rerun`, { input: [1], version: 2 })
  const again = await api.until(rerun.execution_id, 'PAUSED')
  expect(again.input).toEqual([1])
  expect(typesOf(again.events, 'draw')).toHaveLength(2)

  // All of them with one request: only the paused one can still be cancelled.
  const act = { filter: { workflow_name: 'report', tags: 'order=17' }, action: 'cancel' }
  const bulk = (more: object) => api.call('POST', '/executions/bulk', { ...act, ...more })
  const preview = await (await bulk({ dry_run: true })).json()
  expect(preview).toMatchObject({ count: 1, forbidden: 0, left_out: 3 })
  expect((await bulk({ expect: 0 })).status).toBe(409)
  const frames = await (await bulk({ expect: 1 })).text()
  expect(frames).toContain('event: end\ndata: {"total":1,"done":1,"failed":0,"stopped":false')
  await api.until(rerun.execution_id, 'CANCELLED')
})
