import { expect, test } from 'vitest'
import { ReadyQueueView } from './ready-queue-view.ts'

const requirement = { packages: [], affinity: {}, runner: '' }
const full = (requirement_id: string) => ({ requirement_id, requirement })
const bare = (requirement_id: string) => ({ requirement_id, requirement: undefined })
const ready = (queue: ReadyQueueView) =>
  queue.readyRequirements.map(({ requirement_id }) => requirement_id).sort()

test('wake-up for an unknown requirement: unknown until the next listing', () => {
  const queue = new ReadyQueueView()
  queue.markReady('a')
  expect(queue.hasUnknownRequirements).toBe(true)
  expect(ready(queue)).toEqual([])

  queue.replaceListing([full('a')], queue.version)
  expect(queue.hasUnknownRequirements).toBe(false)
  expect(ready(queue)).toEqual(['a'])
  expect(queue.knownIds).toEqual(['a'])
})

test('requirement missing from a listing: not ready, but still known', () => {
  const queue = new ReadyQueueView()
  queue.replaceListing([full('a'), full('b')], queue.version)
  queue.replaceListing([bare('b')], queue.version)
  expect(ready(queue)).toEqual(['b'])

  queue.markReady('a')
  expect(queue.hasUnknownRequirements).toBe(false)
  expect(ready(queue)).toEqual(['a', 'b'])
})

test('wake-up after a request: not overridden by its answer', () => {
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

test('unknown requirement missing from the listing: not unknown any more', () => {
  const queue = new ReadyQueueView()
  queue.markReady('a')
  queue.replaceListing([], queue.version)
  expect(queue.hasUnknownRequirements).toBe(false)
})

test('requirements without work: limited; with work: all kept', () => {
  const queue = new ReadyQueueView()
  const many = Array.from({ length: 10_000 }, (_, i) => full(`r${i}`))
  queue.replaceListing(many, queue.version)
  expect(ready(queue)).toHaveLength(10_000)
  queue.replaceListing([full('r0')], queue.version)
  expect(queue.knownIds).toHaveLength(4_096)
  expect(ready(queue)).toEqual(['r0'])
})
