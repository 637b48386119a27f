import { expect, test } from 'vitest'
import { Queue } from './queue.ts'

const requirement = { packages: [], affinity: {}, runner: '' }
const full = (requirement_id: string) => ({ requirement_id, requirement })
const bare = (requirement_id: string) => ({ requirement_id, requirement: undefined })
const ready = (queue: Queue) => queue.needs.map(({ requirement_id }) => requirement_id).sort()

test('work of an unknown requirement is a puzzle until the queue was listed', () => {
  const queue = new Queue()
  queue.nudge('a')
  expect(queue.puzzled).toBe(true)
  expect(ready(queue)).toEqual([])

  queue.listed([full('a')], queue.mark)
  expect(queue.puzzled).toBe(false)
  expect(ready(queue)).toEqual(['a'])
  expect(queue.knownIds).toEqual(['a'])
})

test('what is not listed any more has no work, but its requirement stays known', () => {
  const queue = new Queue()
  queue.listed([full('a'), full('b')], queue.mark)
  queue.listed([bare('b')], queue.mark)
  expect(ready(queue)).toEqual(['b'])

  queue.nudge('a')
  expect(queue.puzzled).toBe(false)
  expect(ready(queue)).toEqual(['a', 'b'])
})

test('a nudge outlives an answer that was asked for before it', () => {
  const queue = new Queue()
  queue.listed([full('a')], queue.mark)
  const mark = queue.mark
  queue.nudge('a')

  queue.emptied(['a'], mark)
  expect(ready(queue)).toEqual(['a'])
  queue.listed([], mark)
  expect(ready(queue)).toEqual(['a'])
  queue.emptied(['a'], queue.mark)
  expect(ready(queue)).toEqual([])
})

test('an unknown requirement whose work was taken meanwhile is no puzzle', () => {
  const queue = new Queue()
  queue.nudge('a')
  queue.listed([], queue.mark)
  expect(queue.puzzled).toBe(false)
})

test('of requirements without work a bounded number is remembered; those with work all are', () => {
  const queue = new Queue()
  const many = Array.from({ length: 10_000 }, (_, i) => full(`r${i}`))
  queue.listed(many, queue.mark)
  expect(ready(queue)).toHaveLength(10_000)
  queue.listed([full('r0')], queue.mark)
  expect(queue.knownIds).toHaveLength(4_096)
  expect(ready(queue)).toEqual(['r0'])
})
