import { expect, test } from 'vitest'
import { continuation, sequenceOf } from './demo-steps.ts'

const logOf = (...texts: string[]) =>
  texts.map((text, seq) => {
    const [type = '', name = ''] = text.split(' ')
    return { seq, type, name }
  })

const FIRST = ['WORKFLOW_CLAIMED', 'TASK_STARTED a', 'TASK_COMPLETED a', 'TASK_STARTED b']

test('a sequence in its first attempt: done and running tasks, and nothing to say of another', () => {
  const sequence = sequenceOf(logOf(...FIRST))
  expect(sequence).toEqual({
    steps: [
      { name: 'a', isDone: true, attempt: 1 },
      { name: 'b', isDone: false, attempt: 1 },
    ],
    ...{ attempts: 1, isComplete: false, hasEnded: false },
  })
  expect(continuation(sequence)).toBeUndefined()
})

test('a worker that was killed in the second task: the second attempt runs it, and not the first task', () => {
  const again = ['WORKFLOW_CLAIMED', 'TASK_STARTED b', 'TASK_COMPLETED b', 'WORKFLOW_COMPLETED']
  const sequence = sequenceOf(logOf(...FIRST, ...again))
  expect(sequence.steps.map(({ attempt }) => attempt)).toEqual([1, 2])
  expect(sequence).toMatchObject({ attempts: 2, isComplete: true, hasEnded: true })
  expect(continuation(sequence)).toBe('Attempt 2 continued at task 2: task 1 did not run again.')
})

test('a second attempt before its first entry, and one that began at the first task: said as it is', () => {
  expect(continuation(sequenceOf(logOf(...FIRST, 'WORKFLOW_CLAIMED')))).toBe('Attempt 2 has begun.')
  const early = ['WORKFLOW_CLAIMED', 'TASK_STARTED a', 'WORKFLOW_CLAIMED', 'TASK_STARTED a']
  expect(continuation(sequenceOf(logOf(...early)))).toBe('Attempt 2 continued at task 1.')
})

test('three tasks kept, then a failure: ended, and not well', () => {
  const kept = ['a', 'b', 'c'].flatMap((name) => [`TASK_STARTED ${name}`, `TASK_COMPLETED ${name}`])
  const rest = ['WORKFLOW_CLAIMED', 'TASK_STARTED d', 'WORKFLOW_FAILED']
  const sequence = sequenceOf(logOf('WORKFLOW_CLAIMED', ...kept, ...rest))
  expect(sequence).toMatchObject({ isComplete: false, hasEnded: true })
  expect(continuation(sequence)).toContain('tasks 1 to 3 did not run again')
})
