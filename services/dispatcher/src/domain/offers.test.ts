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
  claims_by_delivery: true,
  continues_cancelled: true,
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
const byLoad = { ignoreLoad: false }

test('offer: names connection, capacity and the requirements that the worker meets', () => {
  expect(offersFor([worker], [need('r1'), need('r2', 'b'), need('r3', 'a')], byLoad)).toEqual([
    {
      worker_name: 'w',
      session_id: 's',
      connection_generation: 7,
      capacity: 2,
      requirement_ids: ['r1', 'r3'],
      facts: {},
      used: 0,
      claims_by_delivery: true,
      continues_cancelled: true,
    },
  ])
})

test.each<[string, Partial<CandidateWorker>, number]>([
  ['no free slot', { used: 2 }, 0],
  ['one free slot', { used: 1 }, 1],
  ['no limit', { capacity: 0, used: 1_000 }, 1],
  ['unhealthy', { isHealthy: false }, 0],
  ['stream above the high-water mark', { isWritable: false }, 0],
])('worker with %s: offered only if healthy, writable and not full', (_, change, count) => {
  expect(offersFor([{ ...worker, ...change }], [need('r')], byLoad)).toHaveLength(count)
})

test('ignoreLoad: a full worker is offered, an unhealthy one is not', () => {
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

test('unmatchable work: no offer', () => {
  expect(offersFor([worker], [need('r', 'b')], byLoad)).toEqual([])
  expect(offersFor([worker], [], byLoad)).toEqual([])
})

test('requirement and worker record: matched once, again after the record changed', () => {
  const wanted = need('r', 'a')
  const set = vi.spyOn(wanted.matches, 'set')
  offersFor([worker, worker], [wanted], byLoad)
  offersFor([worker], [wanted], byLoad)
  expect(set).toHaveBeenCalledTimes(1)

  const moved = { ...worker, capabilities: { ...capabilities, labels: { zone: 'b' } } }
  expect(offersFor([moved], [wanted], byLoad)).toEqual([])
})

test('large fleet and queue: offers and requirements are limited', () => {
  const workers = Array.from({ length: 600 }, (_, i) => ({ ...worker, name: `w${i}` }))
  const needs = Array.from({ length: 300 }, (_, i) => need(`r${i}`))
  const offers = offersFor(workers, needs, byLoad)
  expect(offers).toHaveLength(512)
  expect(offers[0]?.requirement_ids).toHaveLength(256)
})

test('matching worker with a free slot left: its requirements count as exhausted', () => {
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

test('unmatchable work: matched once for each fleet version', () => {
  const [wanted, unmatchable] = [need('r', 'a'), need('x', 'b')]
  const lookups = vi.spyOn(unmatchable.matches, 'get')
  const full = { ...worker, used: 2 }
  expect(filterMatchable([wanted, unmatchable], [full], 1)).toEqual([wanted])
  expect(filterMatchable([wanted, unmatchable], [full], 1)).toEqual([wanted])
  expect(lookups).toHaveBeenCalledTimes(1)
  const other = { ...worker, capabilities: { ...capabilities, labels: { zone: 'b' } } }
  expect(filterMatchable([wanted, unmatchable], [full, other], 2)).toEqual([wanted, unmatchable])
})

test('expected work: idle workers are offered first, then the least loaded', () => {
  const workers = [
    { ...worker, name: 'full', used: 2 },
    { ...worker, name: 'busy', capacity: 9, used: 5 },
    { ...worker, name: 'half', used: 1 },
    { ...worker, name: 'idle' },
    { ...worker, name: 'unhealthy', isHealthy: false },
    { ...worker, name: 'behind', isWritable: false },
  ]
  const offers = offersForExpectedWork(workers, [need('r'), need('elsewhere', 'b')])
  expect(offers.map(({ worker_name }) => worker_name)).toEqual(['idle', 'half', 'busy'])
  expect(offers.every(({ requirement_ids }) => requirement_ids.join() === 'r')).toBe(true)
})

test('requirement with a routing policy: no offer for expected work', () => {
  const routed = need('r')
  routed.requirement = { ...routed.requirement, routing_json: '{"terms":[]}' }
  expect(offersForExpectedWork([worker], [routed])).toEqual([])
})

test('large idle fleet: offers for expected work are limited', () => {
  const workers = Array.from({ length: 5_000 }, (_, i) => ({ ...worker, name: `w${i}` }))
  expect(offersForExpectedWork(workers, [need('r')])).toHaveLength(32)
})
