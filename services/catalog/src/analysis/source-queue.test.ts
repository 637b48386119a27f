import { expect, test } from 'vitest'
import { SourceQueue } from './source-queue.ts'

/** A queue with jobs `a1`, `b1` and so on, whose principal is the letter. */
function queueOf(maxJobs: number, ...names: string[]) {
  const jobs = new Map<string, { principal: string; name: string }>()
  const queue = new SourceQueue<{ principal: string; name: string }>(maxJobs)
  const add = (name: string) => {
    const job = { principal: name.slice(0, 1), name }
    jobs.set(name, job)
    return queue.add(job)?.name
  }
  const remove = (name: string) =>
    queue.remove(jobs.get(name) as { principal: string; name: string })
  const takeAll = () => {
    const taken: (string | undefined)[] = []
    while (queue.length > 0) taken.push(queue.take()?.name)
    return taken
  }
  for (const name of names) expect(add(name)).toBeUndefined()
  return { add, remove, takeAll, take: () => queue.take()?.name }
}

test('several principals: they take turns, each in the order of its jobs', () => {
  const queue = queueOf(10, 'a1', 'a2', 'a3', 'b1', 'c1', 'c2')
  expect(queue.takeAll()).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  expect(queue.take()).toBeUndefined()
})

test('a principal that comes back: after those that wait', () => {
  const queue = queueOf(10, 'a1', 'b1', 'b2')
  expect(queue.take()).toBe('a1')
  expect(queue.add('a2')).toBeUndefined()
  expect(queue.takeAll()).toEqual(['b1', 'a2', 'b2'])
})

test('full: a job of another principal takes the place of the last one of the principal with the most', () => {
  const queue = queueOf(4, 'a1', 'a2', 'a3', 'b1')
  expect(queue.add('c1')).toBe('a3')
  expect(queue.takeAll()).toEqual(['a1', 'b1', 'c1', 'a2'])
})

test('full: a job of the principal with the most, or of one that would have as many, is refused', () => {
  const queue = queueOf(3, 'a1', 'a2', 'b1')
  expect(queue.add('a3')).toBe('a3')
  expect(queue.add('b2')).toBe('b2')
  expect(queue.takeAll()).toEqual(['a1', 'b1', 'a2'])
})

test('a job that no longer waits: cannot be removed', () => {
  const queue = queueOf(3, 'a1', 'a2', 'b1')
  expect(queue.remove('a1')).toBe(true)
  expect(queue.remove('a1')).toBe(false)
  expect(queue.add('c1')).toBeUndefined()
  expect(queue.takeAll()).toEqual(['a2', 'b1', 'c1'])
  expect(queue.remove('b1')).toBe(false)
})
