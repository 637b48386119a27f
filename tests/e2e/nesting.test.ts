import { query } from '@windlass/testkit/database'
import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'

const HANG_MS = 120_000

const SOURCE = `
from windlass import ExecutionContext, workflow
from windlass.tasks import call


@workflow
async def again(context: ExecutionContext[int]):
    return await call("default/again", context.input + 1)
`

test('a workflow that calls itself without end: fails at max_nesting, and the refusal names it', async () => {
  const system = await startSystem({ singleProcess: true, env: { SVC_QUOTAS__MAX_NESTING: '3' } })
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

const TREE = `
from windlass import ExecutionContext, call, sleep, workflow

@workflow
async def leaf(ctx: ExecutionContext):
    await sleep(3600)

@workflow
async def middle(ctx: ExecutionContext):
    await call(leaf, ctx.input)

@workflow
async def parent(ctx: ExecutionContext[str]):
    await call(leaf, "detached", mode="async", on_cancel="leave")
    await call(middle, ctx.input)
`

const STARTS = `
from windlass import ExecutionContext, ExecutionError, pause, sleep, start, workflow

@workflow
async def asks(ctx: ExecutionContext[str]) -> str:
    return str(await pause("question")) + ctx.input

@workflow
async def endless(ctx: ExecutionContext):
    await sleep(3600)

@workflow
async def starts(ctx: ExecutionContext) -> list[str]:
    asked, stopped = await start(asks, "!"), await start(endless)
    await stopped.cancel()
    try:
        await stopped.result()
    except ExecutionError as error:
        return [await asked.result(), str(error)]
    return []
`

test('started workflows: one is cancelled, the result of a paused one is awaited', {
  timeout: HANG_MS,
}, async () => {
  const system = await startSystem({ singleProcess: true, workers: 0 })
  await system.startWorker({ args: ['--max-concurrent', '1', '--park-after', '0.2'] })
  const api = client(system.url)
  await api.upload(STARTS)
  const { execution_id } = await api.run('starts', 'async')
  const find = async () => {
    const { executions } = await api.json('GET', '/executions?state=PAUSED&workflow_name=asks')
    return executions[0]?.execution_id
  }
  await expect.poll(find, { timeout: HANG_MS, interval: 200 }).toBeDefined()
  const path = `/workflows/default/asks/resume/${await find()}/async`
  await api.json('POST', path, 'yes')
  const { state, output } = await api.until(execution_id, 'COMPLETED', 'FAILED')
  expect([state, output]).toEqual([
    'COMPLETED',
    ['yes!', 'the workflow default/endless is CANCELLED'],
  ])
})

test('a parent is cancelled, running, parked or without its worker: its tree is, but not what it left', {
  timeout: 2 * HANG_MS,
}, async () => {
  const system = await startSystem({ singleProcess: true, workers: 0 })
  const worker = await system.startWorker({ args: ['--park-after', '3'] })
  const api = client(system.url)
  await api.upload(TREE)
  const rows = () =>
    query<{ name: string; input: string; state: string; parked: boolean }>(
      system.database,
      `select workflow_name as name, input #>> '{}' as input, state, parked from executions.executions`,
    )
  const poll = { timeout: HANG_MS, interval: 100 }
  for (const input of ['running', 'parked', 'lost']) {
    const { execution_id } = await api.run('parent', 'async', input)
    const ofTree = async () => (await rows()).filter((row) => row.input === input)
    const isAwaited = ({ state, parked }: { state: string; parked: boolean }) =>
      state === 'RUNNING' || parked
    await expect.poll(async () => (await ofTree()).filter(isAwaited).length, poll).toBe(3)
    if (input === 'parked')
      await expect.poll(async () => (await ofTree()).every(({ parked }) => parked), poll).toBe(true)
    if (input === 'lost') process.kill(worker.pid ?? expect.unreachable(), 'SIGKILL')
    await api.json('GET', `/workflows/default/parent/cancel/${execution_id}`)
    await expect
      .poll(async () => (await ofTree()).map(({ state }) => state), poll)
      .toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED'])
  }
  const left = (await rows()).filter(({ input }) => input === 'detached')
  expect(left).toHaveLength(3)
  expect(left.filter(({ state }) => state === 'CANCELLED')).toEqual([])
})
