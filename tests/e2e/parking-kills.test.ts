import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isTerminal } from '@windlass/domain/states'
import { query } from '@windlass/testkit/database'
import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'

const HANG_MS = 300_000
const OF_EACH = 10
const WAIT_S = 8

const SOURCE = `
import os
from windlass import ExecutionContext, call, sleep, task, workflow

def write(path, line):
    file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    os.write(file, (line + "\\n").encode())
    os.close(file)

@task
async def effect(path, line):
    write(path, line)
    return line

@task.with_options(retry_max_attempts=3, retry_delay=${WAIT_S}, retry_backoff=1)
async def fail_once(path, id):
    write(path, id + " attempted")
    with open(path) as lines:
        if lines.read().count(id + " attempted") == 1:
            raise OSError("first attempt")
    return "done"

@workflow
async def sleeping(ctx: ExecutionContext[str]):
    await effect(ctx.input, ctx.execution_id + " before")
    await sleep(${WAIT_S})
    await effect(ctx.input, ctx.execution_id + " after")
    return "done"

@workflow
async def calling(ctx: ExecutionContext[str]):
    await effect(ctx.input, ctx.execution_id + " before")
    output = await call(sleeping, ctx.input)
    await effect(ctx.input, ctx.execution_id + " after")
    return output

@workflow
async def retrying(ctx: ExecutionContext[str]):
    await effect(ctx.input, ctx.execution_id + " before")
    output = await fail_once(ctx.input, ctx.execution_id)
    await effect(ctx.input, ctx.execution_id + " after")
    return output
`

const WORKFLOWS = ['sleeping', 'calling', 'retrying']
const EXECUTIONS = OF_EACH * (WORKFLOWS.length + 1)

test('worker and executions killed while executions are parked and while they wake: all complete', {
  timeout: 2 * HANG_MS,
}, async () => {
  const system = await startSystem({ workers: 0, replicas: { executions: 2 } })
  const worker = await system.startWorker({
    args: ['--max-concurrent', '8', '--park-after', '0.1'],
  })
  const api = client(system.url)
  await api.upload(SOURCE)
  const path = join(system.home, 'effects')
  const ids: string[] = []
  for (const name of WORKFLOWS)
    for (let i = 0; i < OF_EACH; i++) ids.push((await api.run(name, 'async', path)).execution_id)

  const rows = () =>
    query<{ execution_id: string; workflow_name: string; state: string; parked: boolean }>(
      system.database,
      'select * from executions.executions order by execution_id',
    )
  const countParked = async () => (await rows()).filter(({ parked }) => parked).length
  const kill = (replica: number) =>
    Promise.all([worker, system.of('executions')[replica]].map((one) => one?.restart('SIGKILL')))
  const untilAll = (isReached: (row: { state: string; parked: boolean }) => boolean) =>
    expect
      .poll(async () => (await rows()).filter((row) => !isReached(row)), {
        timeout: HANG_MS,
        interval: 200,
      })
      .toEqual([])

  await expect
    .poll(async () => (await rows()).length, { timeout: HANG_MS, interval: 100 })
    .toBe(EXECUTIONS)
  await untilAll(({ state, parked }) => parked || isTerminal(state))
  const parked = await countParked()
  expect(parked).toBeGreaterThan(OF_EACH)
  await kill(0)
  await expect.poll(countParked, { timeout: HANG_MS, interval: 50 }).toBeLessThan(parked)
  await kill(1)
  await untilAll(({ state }) => isTerminal(state))

  const lines = (await readFile(path, 'utf8')).split('\n')
  const count = (all: readonly string[], one: string) => all.filter((line) => line === one).length
  for (const row of await rows()) {
    const { execution_id: id, state, output, events } = await api.status(row.execution_id)
    expect([state, output], id).toEqual(['COMPLETED', 'done'])
    // Recorded before it was parked: no replay runs it again. A worker that dies between an effect
    // and its record repeats the effect, so the later one is counted in the log.
    expect(count(lines, `${id} before`), id).toBe(1)
    const recorded = events
      .filter(({ type }: { type: string }) => type === 'TASK_COMPLETED')
      .map(({ value }: { value: { metadata: { value: string } } }) => value.metadata.value)
    for (const when of ['before', 'after']) expect(count(recorded, `${id} ${when}`), id).toBe(1)
    if (row.workflow_name === 'retrying') expect(count(recorded, 'done'), id).toBe(1)
  }
})
