import { expect, test } from 'vitest'
import { assign, type CandidateWorker, type QueuedWork } from './assign.ts'
import type { Policy } from './routing.ts'

const worker = (worker_name: string, fields: Partial<CandidateWorker> = {}): CandidateWorker => ({
  worker_name,
  free: 10,
  used: 0,
  facts: {},
  requirement_ids: new Set(['r']),
  ...fields,
})
const work = (execution_id: string, fields: Partial<QueuedWork> = {}): QueuedWork => ({
  execution_id,
  requirement_id: 'r',
  ...fields,
})
const names = (queue: QueuedWork[], workers: CandidateWorker[]) =>
  assign(queue, workers).map(({ execution_id, worker_name }) => `${execution_id}:${worker_name}`)

test('no preference: the worker with the least load gets the work', () => {
  expect(names([work('1'), work('2'), work('3')], [worker('a', { used: 1 }), worker('b')])).toEqual(
    ['1:b', '2:a', '3:b'],
  )
})

test('a preferred worker with a free slot: comes first', () => {
  const prefers = { preferred_worker: 'a' }
  expect(
    names(
      [work('1', prefers), work('2', prefers)],
      [worker('a', { used: 9, free: 1 }), worker('b')],
    ),
  ).toEqual(['1:a', '2:b'])
})

test('work without an eligible worker: stays queued and does not delay the work behind it', () => {
  const unmatchable = Array.from({ length: 1_000 }, (_, i) => work(`${i}`, { requirement_id: 'x' }))
  expect(names([...unmatchable, work('last')], [worker('a')])).toEqual(['last:a'])
})

test('more work than free slots: a worker gets one execution per slot', () => {
  expect(names([work('1'), work('2'), work('3')], [worker('a', { free: 2 })])).toEqual([
    '1:a',
    '2:a',
  ])
})

test('a worker whose lease expired: gets the work again only if no other worker is eligible', () => {
  expect(names([work('1', { passed_over: 'a' })], [worker('a'), worker('b', { used: 9 })])).toEqual(
    ['1:b'],
  )
  expect(names([work('1', { passed_over: 'a' })], [worker('a')])).toEqual(['1:a'])
})

test('a policy: outranks load and preference, but not an expired lease', () => {
  const policy: Policy = {
    terms: [{ kind: 'prefer', selector: 'label:z', op: '==', value: 'x', weight: 1 }],
  }
  const workers = [worker('a'), worker('b', { used: 9, facts: { 'label:z': 'x' } })]
  expect(names([work('1', { policy, preferred_worker: 'a' })], workers)).toEqual(['1:b'])
  expect(names([work('1', { policy, passed_over: 'b' })], workers)).toEqual(['1:a'])
  expect(names([work('1', { policy, passed_over: 'b' })], workers.slice(1))).toEqual(['1:b'])
})
