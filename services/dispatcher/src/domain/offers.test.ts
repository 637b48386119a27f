import { expect, test, vi } from 'vitest'
import type { Capabilities } from './matching.ts'
import {
  type CandidateWorker,
  exhaustedRequirements,
  filterMatchable,
  offersFor,
  offersForExpectedWork,
  type RequirementEntry,
} from './offers.ts'

const capabilities: Capabilities = {
  resources: undefined,
  packages: () => new Map(),
  labels: { zone: 'a' },
  runners: ['inprocess'],
}
const worker: CandidateWorker = {
  name: 'w',
  session_id: 's',
  connection_generation: 7,
  capacity: 2,
  used: 0,
  isHealthy: true,
  isWritable: true,
  capabilities: capabilities,
}
const need = (requirement_id: string, zone?: string): RequirementEntry => ({
  requirement_id,
  requirement: { packages: [], affinity: zone ? { zone } : {}, runner: '' },
  matches: new WeakMap(),
  selectors: [],
})
const estimated = { ignoreLoad: false }

test('an offer names the connection, the capacity and what the worker can do', () => {
  expect(offersFor([worker], [need('r1'), need('r2', 'b'), need('r3', 'a')], estimated)).toEqual([
    {
      worker_name: 'w',
      session_id: 's',
      connection_generation: 7,
      capacity: 2,
      requirement_ids: ['r1', 'r3'],
      facts: {},
      used: 0,
    },
  ])
})

test.each<[string, Partial<CandidateWorker>, number]>([
  ['one that is full is not offered', { used: 2 }, 0],
  ['one with a free slot is', { used: 1 }, 1],
  ['one without a limit always is', { capacity: 0, used: 1_000 }, 1],
  ['one that is unhealthy is not', { isHealthy: false }, 0],
  ['one whose stream is behind is not', { isWritable: false }, 0],
])('of workers, %s', (_, change, count) => {
  expect(offersFor([{ ...worker, ...change }], [need('r')], estimated)).toHaveLength(count)
})

test('regardless of estimates a full worker is offered, an unhealthy one still not', () => {
  const offers = offersFor(
    [
      { ...worker, used: 9 },
      { ...worker, isHealthy: false },
    ],
    [need('r')],
    { ignoreLoad: true },
  )
  expect(offers).toHaveLength(1)
})

test('work that nobody can do makes no offer', () => {
  expect(offersFor([worker], [need('r', 'b')], estimated)).toEqual([])
  expect(offersFor([worker], [], estimated)).toEqual([])
})

test('a worker is matched with a requirement once, until its record is another', () => {
  const wanted = need('r', 'a')
  const set = vi.spyOn(wanted.matches, 'set')
  offersFor([worker, worker], [wanted], estimated)
  offersFor([worker], [wanted], estimated)
  expect(set).toHaveBeenCalledTimes(1)

  const moved = { ...worker, capabilities: { ...capabilities, labels: { zone: 'b' } } }
  expect(offersFor([moved], [wanted], estimated)).toEqual([])
})

test('one lease offers a bounded number of workers and requirements', () => {
  const workers = Array.from({ length: 600 }, (_, i) => ({ ...worker, name: `w${i}` }))
  const needs = Array.from({ length: 300 }, (_, i) => need(`r${i}`))
  const offers = offersFor(workers, needs, estimated)
  expect(offers).toHaveLength(512)
  expect(offers[0]?.requirement_ids).toHaveLength(256)
})

test('what a worker with room to spare could have had is gone from the queue', () => {
  const offer = (worker_name: string, capacity: number, requirement_ids: string[]) => ({
    worker_name,
    session_id: 's',
    connection_generation: 1,
    capacity,
    requirement_ids,
    facts: {},
    used: 0,
  })
  const offers = [offer('full', 2, ['a', 'b']), offer('idle', 2, ['b']), offer('endless', 0, ['c'])]
  const loads = [
    { worker_name: 'full', used: 2 },
    { worker_name: 'idle', used: 1 },
    { worker_name: 'endless', used: 50 },
  ]
  expect([...exhaustedRequirements(offers, loads)]).toEqual(['b', 'c'])
})

test('work that nobody can do is looked at once, until a worker comes or changes', () => {
  const [wanted, hopeless] = [need('r', 'a'), need('x', 'b')]
  const looked = vi.spyOn(hopeless.matches, 'get')
  const full = { ...worker, used: 2 }
  expect(filterMatchable([wanted, hopeless], [full], 1)).toEqual([wanted])
  expect(filterMatchable([wanted, hopeless], [full], 1)).toEqual([wanted])
  expect(looked).toHaveBeenCalledTimes(1)
  const other = { ...worker, capabilities: { ...capabilities, labels: { zone: 'b' } } }
  expect(filterMatchable([wanted, hopeless], [full, other], 2)).toEqual([wanted, hopeless])
})

test('for work that is yet to come idle workers are offered first, then those that do least', () => {
  const workers = [
    { ...worker, name: 'full', used: 2 },
    { ...worker, name: 'busy', capacity: 9, used: 5 },
    { ...worker, name: 'half', used: 1 },
    { ...worker, name: 'idle' },
    { ...worker, name: 'ill', isHealthy: false },
    { ...worker, name: 'behind', isWritable: false },
  ]
  const offers = offersForExpectedWork(workers, [need('r'), need('elsewhere', 'b')])
  expect(offers.map(({ worker_name }) => worker_name)).toEqual(['idle', 'half', 'busy'])
  expect(offers.every(({ requirement_ids }) => requirement_ids.join() === 'r')).toBe(true)
})

test('work with a routing policy is not prepared for: it is to see all workers', () => {
  const routed = need('r')
  routed.requirement = { ...routed.requirement, routing_json: '{"terms":[]}' }
  expect(offersForExpectedWork([worker], [routed])).toEqual([])
})

test('of a large fleet some idle workers are offered', () => {
  const workers = Array.from({ length: 5_000 }, (_, i) => ({ ...worker, name: `w${i}` }))
  expect(offersForExpectedWork(workers, [need('r')])).toHaveLength(32)
})
