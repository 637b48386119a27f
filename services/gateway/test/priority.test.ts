import { expect, test } from 'vitest'
import { startGateway, workflow } from './gateway-fixture.ts'

const RUN = '/workflows/default/hello/run'
const JSON_TYPE = { 'content-type': 'application/json' }

test('priority: of the request, else of the workflow, else by mode; others are 422', async () => {
  const priorityOf = async (mode: string, declared?: number, query = '') => {
    const metadata_json = JSON.stringify({ task_names: [], priority: declared })
    const { call, executions } = await startGateway({
      catalog: { resolve: async () => workflow({ metadata_json }) },
    })
    const running = call('POST', `${RUN}/${mode}${query}`, { body: '1', headers: JSON_TYPE })
    await expect.poll(() => executions.commands.length).toBe(1)
    executions.grow(executions.last, 'COMPLETED', [{ type: 'WORKFLOW_COMPLETED', value_json: '1' }])
    await (await running).text()
    const { body } = executions.commands[0] ?? {}
    return body?.$case === 'create' ? body.value.priority : undefined
  }
  expect(await priorityOf('async')).toBe(5)
  expect(await priorityOf('sync')).toBe(6)
  expect(await priorityOf('sync', 3)).toBe(3)
  expect(await priorityOf('async', 3, '?priority=0')).toBe(0)

  const { call, executions } = await startGateway()
  for (const wrong of ['10', '-1', '1.5', 'high', '', '0x5']) {
    const response = await call('POST', `${RUN}/async?priority=${wrong}`, { body: '1' })
    expect(response.status, wrong).toBe(422)
    const { detail } = (await response.json()) as { detail: { loc: string[] }[] }
    expect(detail[0]?.loc).toEqual(['query', 'priority'])
  }
  expect(executions.commands).toEqual([])
})
