import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isTerminal } from '@windlass/domain/states'
import { signalIfRunning } from '@windlass/runtime/process/pids'
import { query } from '@windlass/testkit/database'
import type { Process } from '@windlass/testkit/process'
import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'

/** Executions that the test starts; each one in four starts another one. */
const EXECUTIONS = Number(process.env.TEST_CRASHED ?? '40')
const HANG_MS = 1_800_000
const WAIT_S = 3

/** Each effect is a line with the key that another system would recognize a repetition by. */
const SOURCE = `
import os
from windlass import ExecutionContext, call, current, saga, sleep, task, workflow

def write(path, *words):
    file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    os.write(file, (" ".join(words) + "\\n").encode())
    os.close(file)

@task
async def effect(path, name):
    write(path, current().execution_id, name, current().idempotency_key)
    return name

@task.with_options(retry_max_attempts=2, retry_delay=${WAIT_S}, retry_backoff=1)
async def fail_twice(path):
    write(path, current().execution_id, "attempt", current().idempotency_key)
    if current().attempt < 3:
        raise OSError(f"attempt {current().attempt}")
    return "third"

@task
async def undo_effect(path, name):
    write(path, current().execution_id, f"undo-{name}", current().idempotency_key)
    return f"undo-{name}"

@task
async def ship(path):
    write(path, current().execution_id, "ship", current().idempotency_key)
    raise RuntimeError("sold out")

@workflow
async def sleeping(ctx: ExecutionContext[str]):
    await effect(ctx.input, "before")
    await sleep(${WAIT_S})
    return await effect(ctx.input, "after")

@workflow
async def calling(ctx: ExecutionContext[str]):
    await effect(ctx.input, "before")
    await call(sleeping, ctx.input)
    return await effect(ctx.input, "after")

@workflow
async def retrying(ctx: ExecutionContext[str]):
    await effect(ctx.input, "before")
    await fail_twice(ctx.input)
    return await effect(ctx.input, "after")

@workflow
async def compensating(ctx: ExecutionContext[str]):
    async with saga() as undo:
        for name in ("a", "b", "c"):
            undo.add(undo_effect, ctx.input, name)
            await effect(ctx.input, name)
        await sleep(${WAIT_S})
        await ship(ctx.input)
`

const BOTH = ['before', 'after']
/** Results of tasks in the order of the log, and the final state. */
const EXPECTED: Record<string, [state: string, results: string[]]> = {
  sleeping: ['COMPLETED', BOTH],
  calling: ['COMPLETED', BOTH],
  retrying: ['COMPLETED', ['before', 'third', 'after']],
  compensating: ['FAILED', ['a', 'b', 'c', 'undo-c', 'undo-b', 'undo-a']],
}
const NAMES = Object.keys(EXPECTED)
const ALL = EXECUTIONS + Math.ceil(EXECUTIONS / NAMES.length)

interface Row {
  execution_id: string
  workflow_name: string
  state: string
}

interface Ended {
  state: string
  events: LogEvent[]
  output: unknown
}

interface LogEvent {
  type: string
  name: string
  source_id: string
  value: { metadata?: { value?: string } }
}

/** Kills the process from which the children of a worker are forked; they end with it. */
async function killChildren(worker: Process): Promise<void> {
  const ps = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(worker.pid)])
  const [pid] = ps.stdout.trim().split(/\s+/).map(Number)
  if (pid) signalIfRunning(pid, 'SIGKILL')
}

test('processes killed while executions sleep, call, retry, compensate: none lost, no outcome twice', {
  timeout: 2 * HANG_MS,
}, async () => {
  const system = await startSystem({ workers: 0, replicas: { executions: 2, dispatcher: 2 } })
  const args = ['--children', '2', '--max-concurrent', '32', '--park-after', '0.5']
  const workers = [await system.startWorker({ args }), await system.startWorker({ args })]
  const api = client(system.url)
  await api.upload(SOURCE)
  const path = join(system.home, 'effects')
  let started = 0
  const startUpTo = async (count: number) => {
    for (; started < count; started++)
      await api.run(NAMES[started % NAMES.length] ?? '', 'async', path)
  }
  const rows = () =>
    query<Row>(system.database, 'select * from executions.executions order by execution_id')
  const countEnded = async () => (await rows()).filter(({ state }) => isTerminal(state)).length
  const countSteps = async () => {
    const steps = 'select count(*) as n from executions.events'
    return Number((await query<{ n: string }>(system.database, steps))[0]?.n)
  }
  const [one, two] = workers as [Process, Process]
  const restart = (service: 'executions' | 'dispatcher' | 'gateway', i = 0) =>
    system.of(service)[i]?.restart('SIGKILL')
  const kills = [
    () => killChildren(one),
    () => restart('executions', 0),
    () => two.restart('SIGKILL'),
    () => restart('gateway'),
    () => killChildren(two),
    () => restart('dispatcher', 0),
    () => one.restart('SIGKILL'),
    () => restart('executions', 1),
    () => Promise.all([killChildren(one), killChildren(two), restart('dispatcher', 1)]),
  ]
  for (const [i, kill] of kills.entries()) {
    // Progress between two kills: five deaths at one point would end an execution as FAILED.
    const share = Math.ceil((EXECUTIONS * (i + 1)) / kills.length)
    const wanted = (await countSteps()) + (share - started)
    await startUpTo(share)
    const hasMoved = async () => (await countSteps()) > wanted
    await expect.poll(hasMoved, { timeout: HANG_MS, interval: 50 }).toBe(true)
    await kill()
  }
  await expect.poll(countEnded, { timeout: HANG_MS, interval: 200 }).toBe(ALL)

  const lines = (await readFile(path, 'utf8')).trim().split('\n')
  const written = new Set(lines)
  const all = await rows()
  expect(all).toHaveLength(ALL)
  let effects = 0
  for (const { execution_id, workflow_name } of all) {
    const id = execution_id.replaceAll('-', '')
    const { state, events, output } = (await api.status(id)) as Ended
    const [wanted, results] = EXPECTED[workflow_name] ?? expect.unreachable(workflow_name)
    const done = events.filter(
      ({ type, name }) =>
        type === 'TASK_COMPLETED' && ['effect', 'undo_effect', 'fail_twice'].includes(name),
    )
    const why = `${id} ${JSON.stringify(output)} ${JSON.stringify(events.map(({ type }) => type))}`
    expect([state, done.map(({ value }) => value.metadata?.value)], why).toEqual([wanted, results])
    expect(new Set(done.map(({ source_id }) => source_id)).size, id).toBe(results.length)
    // One key for all attempts and repetitions of a call: another system has each effect once.
    const keys = [...written].filter((line) => line.startsWith(`${id} `))
    const names = results.map((name) => (name === 'third' ? 'attempt' : name))
    const made = workflow_name === 'compensating' ? [...names, 'ship'] : names
    expect(keys.map((line) => line.split(' ')[1]).sort(), id).toEqual(made.sort())
    effects += made.length
  }
  expect(written.size).toBe(effects)
  const repeated = lines.length - effects
  console.log(
    `${ALL} executions, ${kills.length} kills, ${effects} effects, ${repeated} repeated or retried`,
  )
})
