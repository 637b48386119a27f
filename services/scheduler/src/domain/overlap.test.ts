import { OVERLAP_POLICIES } from '@windlass/domain/overlap'
import { expect, test } from 'vitest'
import { decideOverlap, MAX_QUEUED, type UnfinishedTick } from './overlap.ts'

const open = (status: UnfinishedTick['status'], second = 0): UnfinishedTick => ({
  nominal_at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)),
  status,
  execution_id: `${second}`.padStart(32, '0'),
  state: status === 'started' ? 'RUNNING' : undefined,
})

test.each(OVERLAP_POLICIES)('%s: no unfinished tick before: starts', (overlap) => {
  expect(decideOverlap(overlap, [])).toEqual({ action: 'start' })
})

test('allow: starts in parallel', () => {
  expect(decideOverlap('allow', [open('started')])).toEqual({ action: 'start' })
})

test('skip: skips the tick and names the unfinished execution', () => {
  expect(decideOverlap('skip', [open('started')])).toEqual({
    action: 'skip',
    reason: `overlap: the execution ${'0'.repeat(32)} of 2026-01-01T00:00:00.000Z is still RUNNING`,
  })
})

test('queue: waits for all unfinished ticks, up to the limit', () => {
  const queue = Array.from({ length: MAX_QUEUED }, (_, i) => open('queued', i + 1))
  expect(decideOverlap('queue', [open('started'), ...queue.slice(1)])).toEqual({
    action: 'wait',
    cancel: [],
    replace: [],
  })
  expect(decideOverlap('queue', [open('started'), ...queue])).toMatchObject({ action: 'skip' })
})

test('cancel_previous: cancels running executions, replaces queued ticks and waits', () => {
  expect(decideOverlap('cancel_previous', [open('started'), open('queued', 1)])).toEqual({
    action: 'wait',
    cancel: [open('started')],
    replace: [open('queued', 1)],
  })
})

test('cancel_previous: a queued tick that may have started: not replaced', () => {
  const starting = { ...open('queued', 1), may_have_started: true }
  expect(decideOverlap('cancel_previous', [starting, open('queued', 2)])).toEqual({
    action: 'wait',
    cancel: [],
    replace: [open('queued', 2)],
  })
})
