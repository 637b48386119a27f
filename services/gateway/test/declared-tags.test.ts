import { expect, test } from 'vitest'
import { RUN } from './assert-response.ts'
import { startGateway, workflow } from './gateway-fixture.ts'

async function setup(tags?: Record<string, string>) {
  const metadata_json = JSON.stringify({ task_names: [], tags })
  const { json, executions } = await startGateway({
    catalog: { resolve: async () => workflow({ metadata_json }) },
  })
  const run = async (query: string) => {
    const answer = await json('POST', `${RUN}${query}`, 1)
    const { body } = executions.commands.at(-1) ?? {}
    return { answer, tags: body?.$case === 'create' ? body.value.tags : undefined }
  }
  return { run, executions }
}

test('a start: gets the tags that its workflow declares; those of the request are added and take precedence', async () => {
  const { run } = await setup({ team: 'billing', env: 'prod' })
  expect((await run('')).tags).toEqual({ team: 'billing', env: 'prod' })
  const { tags } = await run('?tags=env=test,order=7')
  expect(tags).toEqual({ team: 'billing', env: 'test', order: '7' })
})

test('a start of a workflow that declares no tags: those of the request alone', async () => {
  const { run } = await setup()
  expect((await run('')).tags).toEqual({})
  expect((await run('?tags=order=7')).tags).toEqual({ order: '7' })
})

test('more than 16 tags with those of the workflow: 422 that says so, and nothing starts', async () => {
  const declared = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 'v']))
  const { run, executions } = await setup(declared)
  const { answer } = await run('?tags=order=7')
  expect(answer.status).toBe(422)
  expect(await answer.json()).toMatchObject({
    detail: [{ loc: ['query', 'tags'], msg: expect.stringContaining('There are 17 tags') }],
  })
  expect(executions.commands).toEqual([])
  expect((await run('?tags=k3=other')).tags).toEqual({ ...declared, k3: 'other' })
})
