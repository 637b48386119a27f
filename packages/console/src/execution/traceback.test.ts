import { expect, test } from 'vitest'
import { failedLines, framesOf, lineOf, sourcesOf, taskLine } from './traceback.ts'

const VERSION = { namespace: 'default', name: 'checkout', version: 3 }
const TRACEBACK = `  File "<default/checkout version 3>", line 21, in checkout
    await reserve(
    ~~~~~~~~~~~~~^
  File "/usr/lib/python3.11/asyncio/tasks.py", line 479, in wait_for
    return await fut
  File "<default/checkout version 3>", line 9, in reserve
    raise ValueError("no")
`

test('a traceback: its frames with their version, line, function and code', () => {
  expect(framesOf(TRACEBACK)).toEqual([
    {
      ...{ source: VERSION, file: '<default/checkout version 3>', line: 21, within: 'checkout' },
      code: '    await reserve(\n    ~~~~~~~~~~~~~^',
    },
    {
      ...{ source: undefined, file: '/usr/lib/python3.11/asyncio/tasks.py', line: 479 },
      ...{ within: 'wait_for', code: '    return await fut' },
    },
    {
      ...{ source: VERSION, file: '<default/checkout version 3>', line: 9, within: 'reserve' },
      code: '    raise ValueError("no")',
    },
  ])
})

test('the versions and lines of a traceback: each once; the innermost frame is where it failed', () => {
  const frames = framesOf(TRACEBACK)
  expect(sourcesOf(frames)).toEqual([VERSION])
  expect([...failedLines(frames, VERSION)]).toEqual([
    [21, 'passed'],
    [9, 'failed'],
  ])
  expect(failedLines(frames, { ...VERSION, version: 2 }).size).toBe(0)
})

test('a text that is no traceback, and one that is cut: frames as far as there are any', () => {
  expect(framesOf('no frame here')).toEqual([])
  expect(framesOf('…\nrest of a line\n  File "x", line 1, in f\n    code')).toMatchObject([
    { file: 'x', line: 1, source: undefined },
  ])
})

test('a name with a slash or a sign of comparison: still the source of its version', () => {
  expect(framesOf('  File "<team a/b>c version 12>", line 1, in f')[0]?.source).toEqual({
    ...{ namespace: 'team a', name: 'b>c', version: 12 },
  })
})

const SOURCE = `@task
async def reserve(order):
    pass


@task.with_options(name="send mail")
async def send(
    order,
):
    pass
`

test.each([
  ['reserve', 2],
  ['send', 7],
  ['send mail', 7],
  ['res', undefined],
  ['re.erve', undefined],
])('the task %s: line %s of the source', (task, line) => {
  expect(taskLine(SOURCE, task)).toBe(line)
})

test('a line of a source: without its indentation; none behind the end', () => {
  expect(lineOf(SOURCE, 3)).toBe('pass')
  expect(lineOf(SOURCE, 99)).toBeUndefined()
})
