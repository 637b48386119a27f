import { expect, test } from 'vitest'
import { ApiError, createClient } from '../src/client.ts'
import { world } from './world.ts'

test('the client calls routes by name, and throws what was refused', async () => {
  const { url, executions } = await world()
  const api = createClient(url)
  const run = await api('POST /workflows/{namespace}/{workflow_name}/run/{mode}', {
    params: { namespace: 'default', workflow_name: 'hello', mode: 'async' },
    query: { detailed: 'true' },
    body: { a: 1 },
  })
  expect(run).toMatchObject({ execution_id: executions.last, input: { a: 1 }, events: [] })
  const list = await api('GET /executions', { query: { limit: '1' } })
  expect(list.total).toBe(1)
  const missing = api('GET /executions/{execution_id}', { params: { execution_id: 'nope' } })
  await expect(missing).rejects.toThrow(new ApiError(404, 'Not Found'))
})
