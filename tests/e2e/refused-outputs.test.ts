import { expect, test } from 'vitest'
import { client } from './api.ts'
import { HANG_MS, sharedSystem } from './execution-fixture.ts'

const shared = sharedSystem({ singleProcess: true, workers: 1 })
const LIMIT = { timeout: HANG_MS }

const SOURCE = `
from typing import Any
from windlass import ExecutionContext, task, workflow
from windlass.errors import ExecutionError

def cycle():
    value = [1]
    value.append(value)
    return value

def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value

MAKE = {
    "a cycle": lambda: {"rows": [0, cycle()]},
    "600 levels": lambda: {"rows": [0, deep(600)]},
    "500 levels": lambda: deep(500),
    "100 MB": lambda: "x" * 100_000_000,
}

@task
async def make(kind: str) -> Any:
    return MAKE[kind]()

@workflow
async def result(ctx: ExecutionContext[str]):
    try:
        return await make(ctx.input)
    except ExecutionError as error:
        return f"caught {error.message}"

@workflow
async def output(ctx: ExecutionContext[str]):
    return MAKE[ctx.input]()
`

const REFUSED = [
  ['a cycle', /\$\.rows\[1\]\[1\]: the value contains itself/],
  ['600 levels', /\$\.rows\[1\]\[0\].*: the value is nested too deeply.*512 levels/],
  ['100 MB', /100000002 bytes; the log holds at most \d+ .*output_storage/],
] as const

test.for(REFUSED)(
  '%s as a result: its task fails, which the workflow catches, and the worker continues',
  LIMIT,
  async ([kind, reason]) => {
    const api = client(shared().url)
    await api.upload(SOURCE)
    const run = await api.run('result', 'sync', kind)
    expect([run.state, run.output]).toEqual(['COMPLETED', expect.stringMatching(reason)])
    const { events } = await api.status(run.execution_id)
    expect(named(events, 'make')).toEqual(['TASK_STARTED', 'TASK_FAILED'])
    expect(leases(events)).toBe(1)
    await expectAlive(api)
  },
)

test.for(REFUSED)(
  '%s as an output: the execution fails once with the reason, and the worker continues',
  LIMIT,
  async ([kind, reason]) => {
    const api = client(shared().url)
    await api.upload(SOURCE)
    const run = await api.run('output', 'sync', kind)
    expect([run.state, run.output.message]).toEqual(['FAILED', expect.stringMatching(reason)])
    const { events } = await api.status(run.execution_id)
    expect(named(events, 'output')).toEqual(['WORKFLOW_STARTED', 'WORKFLOW_FAILED'])
    expect(leases(events)).toBe(1)
    await expectAlive(api)
  },
)

interface Event {
  type: string
  name: string
}

const named = (events: Event[], name: string) =>
  events.filter((event) => event.name === name).map(({ type }) => type)

/** Number of workers that were given the execution: 2 if a process had ended under it. */
const leases = (events: Event[]) =>
  events.filter(({ type }) => type === 'WORKFLOW_SCHEDULED').length

/** Runs a value of almost as many levels to its end. */
async function expectAlive(api: ReturnType<typeof client>) {
  const run = await api.run('result', 'sync', '500 levels')
  expect(run.state).toBe('COMPLETED')
  expect(JSON.stringify(run.output)).toBe(`${'['.repeat(500)}1${']'.repeat(500)}`)
}
