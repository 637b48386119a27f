import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

test('an execution with payloads=omit: everything but its input and output', async () => {
  const { json, call, executions } = await startGateway()
  await json('POST', '/workflows/default/hello/run/async', { large: 'x'.repeat(1_000) })
  const id = executions.last
  executions.grow(id, 'COMPLETED', [{ type: 'WORKFLOW_COMPLETED', value_json: '"done"' }])
  const get = async (query: string) =>
    (await (await call('GET', `/executions/${id}${query}`)).json()) as object
  const whole = await get('')
  expect(whole).toMatchObject({
    input: { large: expect.stringMatching(/^x+$/) },
    output: 'done',
    state: 'COMPLETED',
  })
  expect(await get('?payloads=omit')).toEqual({ ...whole, input: null, output: null })
  expect((await call('GET', `/executions/${id}?payloads=some`)).status).toBe(422)
})

test('an execution with payloads=omit: its payloads are not read, also from a service that sends them', async () => {
  const { json, call, executions } = await startGateway()
  await json('POST', '/workflows/default/hello/run/async', {})
  const id = executions.last
  const before = executions.calls.get
  const answer = await call('GET', `/executions/${id}?payloads=omit`)
  expect([answer.status, await answer.json()]).toEqual([
    200,
    expect.objectContaining({ execution_id: id, input: null, output: null }),
  ])
  const { get, getWithoutPayloads } = executions.calls
  expect(getWithoutPayloads).toBeGreaterThan(0)
  expect(get - before).toBe(getWithoutPayloads)
})
