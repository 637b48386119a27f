import { expect, test } from 'vitest'
import { type Policy, pickBest, type RankedWorker, selectRoutingInputs } from './routing.ts'

const policy = (...terms: Record<string, unknown>[]) =>
  ({ terms: terms.map((term) => ({ weight: 1, ...term })) }) as unknown as Policy
const prefer = (selector: string, op: string, value: unknown, weight = 1) => ({
  kind: 'prefer',
  selector,
  op,
  value,
  weight,
})
const worker = (
  worker_name: string,
  facts: Record<string, string> = {},
  used = 0,
): RankedWorker => ({
  worker_name,
  used,
  facts,
})
const chosen = (wanted: Policy, workers: RankedWorker[], input = {}) =>
  pickBest(wanted, workers, { inputs: {}, ...input })?.worker_name

test('no candidates: returns undefined', () => {
  expect(chosen(policy({ kind: 'sticky' }), [])).toBeUndefined()
})

test('a preference with a weight: outweighs the load by that weight', () => {
  const workers = [worker('a', { 'label:zone': 'eu' }, 9), worker('b', { 'label:zone': 'us' }, 0)]
  const zone = (weight: number) =>
    policy(prefer('label:zone', '==', 'eu', weight), { kind: 'least', selector: 'load' })
  expect(chosen(zone(10), workers)).toBe('a')
  expect(chosen(zone(0.5), workers)).toBe('b')
})

test('a value from the input: compared; a missing one: matches no worker', () => {
  const workers = [worker('a', { 'label:zone': 'eu' }), worker('b', { 'label:zone': 'us' })]
  const zone = policy(prefer('label:zone', '==', { $input: 'customer.zone' }))
  expect(chosen(zone, workers, { inputs: { 'customer.zone': 'us' } })).toBe('b')
  expect(chosen(zone, workers)).toBe('a')
  expect(chosen(policy(prefer('label:zone', '!=', { $input: 'customer.zone' })), workers)).toBe('a')
})

test.each<[fact: string, op: string, value: unknown, holds: boolean]>([
  ['10', '>', 9, true],
  ['10', '>', '9', true],
  ['10', '==', '10.0', true],
  ['a10', '>', 9, false],
  ['a', '<', 'b', false],
  ['a', '!=', 'b', true],
  ['1', '==', true, false],
  ['true', '==', true, true],
  ['2', '<=', 2, true],
  ['2', '>=', 2.5, false],
  ['x', '==', null, false],
])('%j %s %j: %s', (fact, op, value, holds) => {
  const workers = [worker('a'), worker('b', { 'label:k': fact })]
  expect(chosen(policy(prefer('label:k', op, value)), workers)).toBe(holds ? 'b' : 'a')
})

test('least and most: score by position between lowest and highest; an unknown value: scores worst', () => {
  const cpu = (free: string) => ({ 'resource:cpu_available': free })
  const workers = [worker('a', cpu('2')), worker('b', cpu('8')), worker('c')]
  const by = (kind: string) => policy({ kind, selector: 'resource:cpu_available' })
  expect(chosen(by('most'), workers)).toBe('b')
  expect(chosen(by('least'), workers)).toBe('a')
  const half = policy(
    { kind: 'most', selector: 'resource:cpu_available' },
    prefer('label:z', '==', 'x', 0.7),
  )
  const middle = worker('m', { ...cpu('5'), 'label:z': 'x' })
  expect(chosen(half, [...workers, middle])).toBe('m')
})

test('equal values: score a half each; a value unknown for all workers: scores zero', () => {
  const same = { 'metric:q': '1' }
  const by = policy(
    { kind: 'most', selector: 'metric:q' },
    { kind: 'most', selector: 'metric:none', weight: 9 },
    { kind: 'sticky', weight: 0.4 },
  )
  const workers = [worker('a', same), worker('b', same)]
  expect(chosen(by, workers, { preferred_worker: 'b' })).toBe('b')
  expect(chosen(by, [worker('a', same), worker('b')], { preferred_worker: 'b' })).toBe('a')
})

test('equal scores: the least loaded worker wins, then the first by name', () => {
  const none = policy({ kind: 'sticky' })
  expect(chosen(none, [worker('b', {}, 1), worker('c', {}, 0), worker('a', {}, 0)])).toBe('a')
})

test('values selected from an input: found through objects only, and small', () => {
  const paths = ['a.b', 'list.0', 'long', 'none', 'toString', 'flag', 'n']
  const wanted = policy(...paths.map((path) => prefer('load', '==', { $input: path })))
  const document = { a: { b: 'x' }, list: [1], long: 'x'.repeat(2_000), flag: false, n: 1.5 }
  expect(JSON.parse(selectRoutingInputs(wanted, JSON.stringify(document)) ?? '')).toEqual({
    'a.b': 'x',
    flag: false,
    n: 1.5,
  })
  expect(JSON.parse(selectRoutingInputs(wanted, '[1]') ?? '')).toEqual({})
  expect(selectRoutingInputs(policy({ kind: 'sticky' }), 'not even looked at')).toBeUndefined()
})
