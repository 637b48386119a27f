import { expect, test } from 'vitest'
import { callLines } from './call-lines.ts'

const SOURCE = `import asyncio
from windlass import parallel, sleep, task, workflow


@task
async def load(order):
    """load(order) reads it."""
    await asyncio.sleep(1)
    return order


@task.with_options(name="send mail")
async def send(order):
    return await load(order)


@task
async def fetch(url):
    return url


@workflow
async def ship(ctx):
    order = await load(ctx.input)  # not load(1)
    await send(order)
    await sleep(60)
    text = "send(order)"
    return await parallel(fetch, text)
`

test.each([
  ['load', [14, 24]],
  ['send', [25]],
  ['send mail', [25]],
  ['sleep', [26]],
  ['fetch', [28]],
  ['task.*', []],
  ['none', []],
])('the task %s: called in the lines %j', (task, lines) => {
  expect(callLines(SOURCE, task)).toEqual(lines)
})

test('a name that arguments have too: the lines that call it', () => {
  const source = 'async def run():\n    await load(1)\n    check(load=2)\n'
  expect(callLines(source, 'load')).toEqual([2])
})
