import { expect, test } from 'vitest'
import type { AuditEntry } from './audit-entry.ts'
import { RefusalAggregator } from './refusal-aggregator.ts'

const entry = (subject: string, object = 'role:a'): AuditEntry => ({
  caller: { subject, issuer: 'svc' },
  request_id: 'r-1',
  action: 'role.update',
  object,
  outcome: 'denied',
  detail_json: '{"reason":"no"}',
})

function setup() {
  const clock = { now: 1_000_000 }
  const aggregator = new RefusalAggregator(() => clock.now)
  const admitted = (count: number, make: (i: number) => AuditEntry) =>
    Array.from({ length: count }, (_, i) => aggregator.admit(make(i))).filter(Boolean).length
  return { clock, aggregator, admitted }
}

test('a thousand refusals of one caller: five entries, and one summary after the minute', () => {
  const { clock, aggregator, admitted } = setup()
  expect(admitted(1_000, (i) => entry('eve', `role:r${i}`))).toBe(5)
  expect(aggregator.takeSummaries()).toEqual([])
  clock.now += 60_000
  const [summary, ...rest] = aggregator.takeSummaries()
  expect(rest).toEqual([])
  expect(summary).toMatchObject({ caller: { subject: 'eve' }, object: 'role', outcome: 'denied' })
  const detail = JSON.parse(summary?.detail_json ?? '')
  expect(detail).toMatchObject({ reason: 'no', repeated: 995 })
  expect(detail.objects).toHaveLength(10)
  expect(aggregator.takeSummaries(true)).toEqual([])
})

test('refusals of one object: its summary names the object', () => {
  const { aggregator, admitted } = setup()
  admitted(6, () => entry('eve'))
  expect(aggregator.takeSummaries(true)).toMatchObject([{ object: 'role:a' }])
})

test('refusals of many callers: bounded per second, none is lost', () => {
  const { clock, aggregator, admitted } = setup()
  expect(admitted(500, (i) => entry(`caller-${i}`))).toBe(100)
  clock.now += 1_000
  expect(admitted(500, (i) => entry(`caller-${i}`))).toBe(20)
  clock.now += 60_000
  expect(aggregator.takeSummaries()).toHaveLength(100)
  const left = aggregator.takeSummaries(true)
  expect(left.length).toBeGreaterThanOrEqual(380)
  expect(aggregator.takeDropped()).toBe(0)
})

test('more groups than are kept: the entries of the oldest are counted as dropped', () => {
  const { aggregator, admitted } = setup()
  admitted(1_100, (i) => entry(`caller-${i}`))
  expect(aggregator.takeDropped()).toBe(0)
  admitted(100, (i) => entry(`other-${i}`))
  expect(aggregator.takeDropped()).toBeGreaterThan(0)
})
