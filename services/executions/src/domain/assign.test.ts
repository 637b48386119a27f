import { expect, test } from 'vitest'
import { assign, type CandidateWorker, type QueuedWork } from './assign.ts'
import type { Policy } from './routing.ts'

const room = (worker_name: string, fields: Partial<CandidateWorker> = {}): CandidateWorker => ({
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
const names = (candidates: QueuedWork[], rooms: CandidateWorker[]) =>
  assign(candidates, rooms).map(({ execution_id, worker_name }) => `${execution_id}:${worker_name}`)

test('work spreads to the worker with the least of it', () => {
  expect(names([work('1'), work('2'), work('3')], [room('a', { used: 1 }), room('b')])).toEqual([
    '1:b',
    '2:a',
    '3:b',
  ])
})

test('the preferred worker comes first while it has room', () => {
  const prefers = { preferred_worker: 'a' }
  expect(
    names([work('1', prefers), work('2', prefers)], [room('a', { used: 9, free: 1 }), room('b')]),
  ).toEqual(['1:a', '2:b'])
})

test('nobody takes what it is not eligible for, and that keeps nobody else waiting', () => {
  const unmatchable = Array.from({ length: 1_000 }, (_, i) => work(`${i}`, { requirement_id: 'x' }))
  expect(names([...unmatchable, work('last')], [room('a')])).toEqual(['last:a'])
})

test('no worker gets more than it has room for', () => {
  expect(names([work('1'), work('2'), work('3')], [room('a', { free: 2 })])).toEqual(['1:a', '2:a'])
})

test('a worker that let this work expire gets it only if nobody else can', () => {
  expect(names([work('1', { passed_over: 'a' })], [room('a'), room('b', { used: 9 })])).toEqual([
    '1:b',
  ])
  expect(names([work('1', { passed_over: 'a' })], [room('a')])).toEqual(['1:a'])
})

test('a policy ranks before anything else; who let the work expire is asked last all the same', () => {
  const policy: Policy = {
    terms: [{ kind: 'prefer', selector: 'label:z', op: '==', value: 'x', weight: 1 }],
  }
  const rooms = [room('a'), room('b', { used: 9, facts: { 'label:z': 'x' } })]
  expect(names([work('1', { policy, preferred_worker: 'a' })], rooms)).toEqual(['1:b'])
  expect(names([work('1', { policy, passed_over: 'b' })], rooms)).toEqual(['1:a'])
  expect(names([work('1', { policy, passed_over: 'b' })], rooms.slice(1))).toEqual(['1:b'])
})
