import { expect, test } from 'vitest'
import { ReadyQueueView } from './ready-queue-view.ts'

const requirement = { packages: [], affinity: {}, runner: '' }
const full = (requirement_id: string) => ({ requirement_id, requirement })
const bare = (requirement_id: string) => ({ requirement_id, requirement: undefined })
const ready = (queue: ReadyQueueView) =>
  queue.readyRequirements.map(({ requirement_id }) => requirement_id).sort()

test('work of an unknown requirement is a puzzle until the queue was listed', () => {
  const queue = new ReadyQueueView()
  queue.markReady('a')
  expect(queue.hasUnknownRequirements).toBe(true)
  expect(ready(queue)).toEqual([])

  queue.replaceListing([full('a')], queue.version)
  expect(queue.hasUnknownRequirements).toBe(false)
  expect(ready(queue)).toEqual(['a'])
  expect(queue.knownIds).toEqual(['a'])
})

test('what is not listed any more has no work, but its requirement stays known', () => {
  const queue = new ReadyQueueView()
  queue.replaceListing([full('a'), full('b')], queue.version)
  queue.replaceListing([bare('b')], queue.version)
  expect(ready(queue)).toEqual(['b'])

  queue.markReady('a')
  expect(queue.hasUnknownRequirements).toBe(false)
  expect(ready(queue)).toEqual(['a', 'b'])
})

test('a nudge outlives an answer that was asked for before it', () => {
  const queue = new ReadyQueueView()
  queue.replaceListing([full('a')], queue.version)
  const mark = queue.version
  queue.markReady('a')

  queue.markEmpty(['a'], mark)
  expect(ready(queue)).toEqual(['a'])
  queue.replaceListing([], mark)
  expect(ready(queue)).toEqual(['a'])
  queue.markEmpty(['a'], queue.version)
  expect(ready(queue)).toEqual([])
})

test('an unknown requirement whose work was taken meanwhile is no puzzle', () => {
  const queue = new ReadyQueueView()
  queue.markReady('a')
  queue.replaceListing([], queue.version)
  expect(queue.hasUnknownRequirements).toBe(false)
})

test('of requirements without work a bounded number is remembered; those with work all are', () => {
  const queue = new ReadyQueueView()
  const many = Array.from({ length: 10_000 }, (_, i) => full(`r${i}`))
  queue.replaceListing(many, queue.version)
  expect(ready(queue)).toHaveLength(10_000)
  queue.replaceListing([full('r0')], queue.version)
  expect(queue.knownIds).toHaveLength(4_096)
  expect(ready(queue)).toEqual(['r0'])
})
