import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'

const SOURCE = `
from windlass import ExecutionContext, workflow
from windlass.tasks import call


@workflow
async def again(context: ExecutionContext[int]):
    return await call("default/again", context.input + 1)
`

test('a workflow that calls itself without end: fails at max_nesting, and the refusal names it', async () => {
  const system = await startSystem({ env: { SVC_QUOTAS__MAX_NESTING: '3' } })
  const api = client(system.url)
  await api.upload(SOURCE)
  const { execution_id } = await api.run('again', 'async', 0)
  const { state, output } = await api.until(execution_id, 'COMPLETED', 'FAILED')
  expect(state).toBe('FAILED')
  expect(JSON.stringify(output)).toContain('[svc.quotas].max_nesting is 3')
  const { executions, total } = await api.json('GET', '/executions?limit=100')
  expect(total).toBe(4)
  expect(executions.map((one: { state: string }) => one.state)).toEqual(Array(4).fill('FAILED'))
})
