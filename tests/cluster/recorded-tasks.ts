import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Tasks of a long run, and the duration of each in seconds: an event stream lasts as long as all. */
const LONG_TASKS = 6
const LONG_TASK_S = 1

/** Source of two workflows whose tasks append their run and number to a file: what ran twice is in it twice. */
export const sourceWith = (file: string) => `
import asyncio

from windlass import ExecutionContext, task, workflow


@task
async def record(run: str, number: int, seconds: float) -> int:
    with open(${JSON.stringify(file)}, "a") as done:
        done.write(f"{run} {number}\\n")
    await asyncio.sleep(seconds)
    return number


@workflow
async def short_run(ctx: ExecutionContext[str]) -> str:
    await record(ctx.input, 1, 0)
    return ctx.input


@workflow
async def long_run(ctx: ExecutionContext[str]) -> str:
    for number in range(${LONG_TASKS}):
        await record(ctx.input, number, ${LONG_TASK_S})
    return ctx.input
`

/** Makes the file of a system. Returns its path and a reader of the tasks that ran more than once. */
export function recordTasks(folder: string) {
  const file = join(folder, 'tasks')
  appendFileSync(file, '')
  return {
    file,
    /** Lists tasks of runs whose names begin with `prefix` that ran more than once; `count` is of all. */
    read(prefix: string) {
      const lines = readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(prefix))
      const seen = new Set<string>()
      const repeated = lines.filter((line) => seen.has(line) || !seen.add(line))
      return { count: lines.length, repeated }
    },
  }
}
