import { isTerminal } from '@windlass/domain/states'
import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'

const HANG_MS = 300_000

const SOURCE = `
from windlass import ExecutionContext, call, task, workflow

@task
async def step(name):
    return name

@workflow
async def child(ctx: ExecutionContext):
    return await step("child")

@workflow
async def parent(ctx: ExecutionContext):
    return await call(child, ctx.input)

@workflow
async def nested(ctx: ExecutionContext[int]):
    return 0 if ctx.input == 0 else 1 + await call(nested, ctx.input - 1)
`

type Api = ReturnType<typeof client>

const startMany = (api: Api, name: string, count: number, input: unknown) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const { execution_id } = await api.run(name, 'async', input)
      return execution_id as string
    }),
  )

/** Waits for the ends of executions; returns their details. */
const ends = (api: Api, ids: readonly string[]) =>
  Promise.all(
    ids.map(async (id) => {
      await expect
        .poll(async () => isTerminal((await api.status(id)).state), {
          timeout: HANG_MS,
          interval: 500,
        })
        .toBe(true)
      return api.status(id)
    }),
  )

// No wait lasts an hour: these executions are parked because no slot is free.
test('64 parents that await a child on one worker with 8 slots: all end', {
  timeout: 2 * HANG_MS,
}, async () => {
  const system = await startSystem({ singleProcess: true, workers: 0 })
  await system.startWorker({ args: ['--max-concurrent', '8', '--park-after', '3600'] })
  const api = client(system.url)
  await api.upload(SOURCE)
  const begun = performance.now()
  const ids = await startMany(api, 'parent', 64, 'x')
  for (const { state, output } of await ends(api, ids))
    expect([state, output]).toEqual(['COMPLETED', 'child'])
  console.info(`64 parents on 8 slots: ${((performance.now() - begun) / 1_000).toFixed(1)} s`)
  const { total } = await api.json('GET', '/executions?limit=1')
  expect(total).toBe(128)
})

test('nested calls deeper than the slots of one worker: they end', {
  timeout: 2 * HANG_MS,
}, async () => {
  const system = await startSystem({ singleProcess: true, workers: 0 })
  await system.startWorker({ args: ['--max-concurrent', '1', '--park-after', '3600'] })
  const api = client(system.url)
  await api.upload(SOURCE)
  const [id = ''] = await startMany(api, 'nested', 1, 8)
  const [done] = await ends(api, [id])
  expect([done?.state, done?.output]).toEqual(['COMPLETED', 8])
})
