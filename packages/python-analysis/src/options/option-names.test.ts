import { expect, test } from 'vitest'
import { analyseSource } from '../../test/analysis-fixture.ts'

const SDK = 'from windlass import task, workflow\n'
const JOB = '@workflow\nasync def job(ctx):\n    await step()\n'

test.each([
  [
    'retries of a workflow',
    `${SDK}@workflow.with_options(name="a", retry_max_attempts=3)\nasync def job(ctx): ...\n`,
    "Unknown option 'retry_max_attempts' of workflow 'job' in line 2, column 34: it is an option of a task",
    { line: 2, column: 34 },
  ],
  [
    'a workflow option of a task',
    `${SDK}@task.with_options(\n    queue_timeout=3,\n)\nasync def step(): ...\n${JOB}`,
    "Unknown option 'queue_timeout' of task 'step' in line 3, column 5: it is an option of a workflow",
    { line: 3, column: 5 },
  ],
  [
    'a mistyped option',
    `${SDK}@task.with_options(timout=3)\nasync def step(): ...\n${JOB}`,
    "Unknown option 'timout' of task 'step' in line 2, column 20: the options are name, ",
    { line: 2, column: 20 },
  ],
  [
    'an unknown option of a copy',
    `${SDK}@task\nasync def step(): ...\n@workflow\nasync def job(ctx):\n    await step.with_options(retries=1)()\n`,
    "Unknown option 'retries' of task 'step' in line 6, column 29: the options are ",
    { line: 6, column: 29 },
  ],
  [
    'an unknown option in a dictionary',
    `${SDK}OPTIONS = {"retries": 1}\n@task.with_options(**OPTIONS)\nasync def step(): ...\n${JOB}`,
    "Unknown option 'retries' of task 'step' in line 2, column 12: the options are ",
    { line: 2, column: 12 },
  ],
])('%s: refused with line and column', (_, source, message, place) => {
  expect(() => analyseSource(source)).toThrow(
    expect.objectContaining({
      kind: 'invalid',
      message: expect.stringContaining(message),
      details: place,
    }),
  )
})

test('an unknown option of a task that no workflow reaches: refused', () => {
  const source = `${SDK}@task.with_options(retries=3)\nasync def other(): ...\n@workflow\nasync def job(ctx): ...\n`
  expect(() => analyseSource(source)).toThrow("Unknown option 'retries' of task 'other'")
})
