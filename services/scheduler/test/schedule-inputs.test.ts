import { expect, test } from 'vitest'
import {
  eventually,
  historyPage,
  makeOverdue,
  newName,
  request,
  schedulerFixture,
} from './scheduler-fixture.ts'

const order = {
  type: 'object',
  properties: { item: { type: 'string' } },
  required: ['item'],
}

async function inputFixture() {
  const system = await schedulerFixture()
  const client = await system.replica()
  const upload = (schema: unknown, schedule?: object) =>
    Object.assign(system.catalog.put('team', 'report', schedule), {
      input_schema_json: schema === undefined ? '' : JSON.stringify(schema),
    })
  const reconcile = () => client.reconcile({ workflow_namespace: 'team', workflow_name: 'report' })
  return { ...system, client, upload, reconcile }
}

const problem = (type: string, ...loc: string[]) => ({
  kind: 'unprocessable',
  details: { problems: [expect.objectContaining({ loc: ['body', 'input_data', ...loc], type })] },
})

test('create: an input that the latest version refuses is unprocessable', async () => {
  const { client, upload } = await inputFixture()
  upload(order)
  for (const [input_json, ...expected] of [
    ['{"item":1}', 'type', 'item'],
    ['{}', 'missing', 'item'],
    ['null', 'missing', 'item'],
    ['[]', 'type'],
  ] as [string, string, ...string[]][])
    await expect(client.create(request({ input_json })), input_json).rejects.toMatchObject(
      problem(...expected),
    )
  await client.create(request({ input_json: '{"item":"tea"}' }))
  upload({ type: 'object' })
  await client.create(request())
})

test('update: the input that the schedule would have is checked', async () => {
  const { client, upload, catalog } = await inputFixture()
  const { id: ref } = await client.create(request({ input_json: '{"item":"tea"}' }))
  upload(order)
  await expect(client.update({ ref, input_json: '{"item":2}' })).rejects.toMatchObject(
    problem('type', 'item'),
  )
  await client.update({ ref, description: 'x' })
  const { id: other } = await client.get({ ref })
  upload({ type: 'array' })
  await expect(client.update({ ref: other, description: 'y' })).rejects.toMatchObject(
    problem('type'),
  )
  expect(await client.get({ ref })).toMatchObject({ description: 'x' })
  expect(await client.update({ ref, input_json: '[]' })).toMatchObject({ input_json: '[]' })
  catalog.remove('team', 'report')
  await client.update({ ref, description: 'z' })
})

test('a new version that refuses the input: the schedule says so until it matches again', async () => {
  const { client, upload, reconcile } = await inputFixture()
  const name = newName()
  await client.create(request({ name, input_json: '{"item":"tea"}' }))
  const problemOf = async () => (await client.get({ ref: name })).input_problem

  upload({ ...order, required: ['item', 'count'] })
  await reconcile()
  expect(await problemOf()).toBe('version 2 refuses the input: count: Field required')
  upload(order)
  await reconcile()
  expect(await problemOf()).toBeUndefined()
  upload({ type: 'string' })
  await reconcile()
  expect(await problemOf()).toBe('version 4 refuses the input: must be string')
  expect(await client.update({ ref: name, input_json: '"tea"' })).not.toHaveProperty(
    'input_problem',
    expect.any(String),
  )
})

test('a declared schedule without input for a model: exists and says what is missing', async () => {
  const { client, upload, reconcile } = await inputFixture()
  upload(order, { type: 'interval', interval_seconds: 3_600, start_time: null })
  await reconcile()
  expect(await client.get({ ref: 'report_auto' })).toMatchObject({
    input_problem: 'version 2 refuses the input: item: Field required',
  })
})

test('a tick whose input the latest version refuses: FAILED with the reason, no execution', async () => {
  const { db, client, upload, executions } = await inputFixture()
  const bad = await client.create(request())
  const good = await client.create(request({ input_json: '{"item":"tea"}' }))
  upload(order)
  await makeOverdue(db, bad, 1, 3_600)
  await makeOverdue(db, good, 1, 3_600)
  await eventually(async () => (await client.history(historyPage(bad.id))).entries).toMatchObject([
    {
      state: 'FAILED',
      execution_id: '',
      error: 'version 2 refuses the input: item: Field required',
    },
  ])
  await eventually(() => executions.created.size).toBe(1)
  expect(await client.get({ ref: bad.id })).toMatchObject({ failure_count: 1, run_count: 0 })
})

test('executions that end FAILED: failure_count counts each once', async () => {
  const { db, client, executions, finish } = await inputFixture()
  const made = await client.create(request())
  const counts = async () => {
    const { run_count, failure_count } = await client.get({ ref: made.id })
    return { run_count, failure_count }
  }
  for (const [state, expected] of [
    ['FAILED', { run_count: 1, failure_count: 1 }],
    ['COMPLETED', { run_count: 2, failure_count: 1 }],
    ['CANCELLED', { run_count: 3, failure_count: 1 }],
    ['FAILED', { run_count: 4, failure_count: 2 }],
  ] as const) {
    const before = executions.created.size
    await makeOverdue(db, made, 1, 3_600)
    await eventually(() => executions.created.size).toBe(before + 1)
    const id = [...executions.created.keys()].at(-1) as string
    await finish(id, state)
    await finish(id, state)
    await eventually(counts).toEqual(expected)
  }
  const states = async () =>
    (await client.history(historyPage(made.id))).entries.map(({ state }) => state)
  await eventually(states).toEqual(['FAILED', 'CANCELLED', 'COMPLETED', 'FAILED'])
  expect(await counts()).toEqual({ run_count: 4, failure_count: 2 })
})
