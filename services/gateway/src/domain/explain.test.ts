import { expect, test } from 'vitest'
import { explain, type Place, unmet, type Wait } from './explain.ts'

const wait = (changes: Partial<Wait> = {}): Wait => ({
  state: 'SCHEDULED',
  queue_position: 2,
  held_by: '',
  deadline_at: null,
  parked: false,
  wakes_on: [],
  handed_over_by: '',
  undone: [],
  gates: [],
  needs: ["label 'zone' = 'eu'", 'cpu 4'],
  ...changes,
})

const place = (name: string, changes: Partial<Place> = {}): Place => ({
  name,
  status: 'online',
  lacking: [],
  capacity: 2,
  used: 2,
  ...changes,
})

const ZONE = "label 'zone' = 'eu'"

const QUEUED: [string, Place[], reason: RegExp, suggestion: string | null][] = [
  [
    'without workers',
    [],
    /^no worker is connected$/,
    "a worker with label 'zone' = 'eu' and cpu 4",
  ],
  [
    'with a free slot',
    [place('w1'), place('w2', { used: 1 })],
    /number 2 .* has a free slot$/,
    null,
  ],
  [
    'with a worker without limit',
    [place('w1', { capacity: 0, used: 99 })],
    /has a free slot$/,
    null,
  ],
  [
    'with full workers',
    [place('w1', { capacity: 1, used: 3 }), place('w2')],
    /number 2 .* full$/,
    "2 more free slots on 'w2', which holds 2 of 2",
  ],
  [
    'with workers that lack a label or more',
    [place('w1', { lacking: [ZONE, 'cpu 4'] }), place('w2', { lacking: [ZONE] })],
    /^none of the 2 connected workers can run it$/,
    "a worker with label 'zone' = 'eu', else like 'w2'",
  ],
  [
    'with an unhealthy worker',
    [place('w1', { status: 'unhealthy' }), place('w2', { lacking: [ZONE] })],
    /^none of the 2 connected workers/,
    "'w1' to report that it is healthy again",
  ],
  [
    'with a disconnected worker',
    [place('w1', { status: 'offline' }), place('w2', { lacking: [ZONE] })],
    /^the one connected worker cannot run it$/,
    "'w1' to connect again",
  ],
  [
    'with only a disconnected worker that lacks requirements',
    [place('w1', { status: 'offline', lacking: [ZONE, 'cpu 4'] })],
    /^no worker is connected$/,
    "a worker with label 'zone' = 'eu' and cpu 4, else like 'w1'",
  ],
]

test.each(QUEUED)(
  'a queued execution %s: the reason and suggestion for it',
  (...[, places, reason, suggestion]) => {
    const explained = explain(wait(), places)
    expect(explained.reason).toMatch(reason)
    expect(explained.suggestion).toBe(suggestion)
  },
)

const held = { queue_position: 0, held_by: 'w1' }

const OTHERS: [string, Partial<Wait>, Place[], reason: RegExp, suggestion: string | null][] = [
  ['a terminal state', { state: 'FAILED' }, [], /^it has ended: FAILED$/, null],
  ['a pause', { state: 'PAUSED' }, [], /^it is paused until it is resumed$/, 'a resume'],
  [
    'a pending approval',
    { state: 'PAUSED', gates: ['pay', 'send'] },
    [],
    /approval of 'pay', 'send'$/,
    "an approval or rejection of 'pay': POST /executions/{id}/approvals/{call}/approve or …/reject",
  ],
  [
    'a sleep',
    { parked: true, deadline_at: '2026-01-02T03:04:05.000Z' },
    [],
    /^its workflow waits until 2026-01-02T03:04:05.000Z; it needs no worker/,
    null,
  ],
  [
    'a wait for other executions',
    { parked: true, wakes_on: ['e1', 'e2', 'e3'] },
    [place('w1')],
    /^its workflow waits for the end of execution e1 or 2 others; /,
    null,
  ],
  [
    'a wait for an execution, with a limit',
    { parked: true, deadline_at: '2026-01-02T03:04:05.000Z', wakes_on: ['e1'] },
    [],
    /^its workflow waits until 2026-01-02T03:04:05.000Z, or for the end of execution e1; /,
    null,
  ],
  [
    'a lease',
    { ...held, deadline_at: '2026-01-02T03:04:05.000Z' },
    [place('w1')],
    /leased to worker 'w1'.* claim it, until 2026-01-02T03:04:05.000Z$/,
    null,
  ],
  [
    'a claim',
    { ...held, state: 'RUNNING' },
    [place('w1')],
    /^it is not waiting: worker 'w1'/,
    null,
  ],
  [
    'a cancellation',
    { ...held, state: 'CANCELLING' },
    [place('w1')],
    /'w1' was asked to cancel it/,
    null,
  ],
  [
    'a cancelled execution that its worker lost',
    { state: 'CANCELLING', handed_over_by: 'w1', deadline_at: '2026-01-02T03:04:05.000Z' },
    [place('w1', { status: 'offline' })],
    /^worker 'w1' lost it after it was cancelled; it waits for a worker .* until 2026-01-02T03:04:05.000Z, and is then/,
    'a worker that can run it, with the feature continue_cancelled and a free slot',
  ],
  [
    'a cancelled execution that another worker continues',
    { state: 'CANCELLING', held_by: 'w2', handed_over_by: 'w1' },
    [place('w2')],
    /^worker 'w1' lost it after it was cancelled; worker 'w2' continues its compensations$/,
    null,
  ],
  [
    'compensations that a bound has left undone',
    { state: 'CANCELLED', undone: ['a', 'b', 'c', 'd', 'e'] },
    [],
    /^it has ended: CANCELLED, and compensations have no outcome: 'a', 'b', 'c' and 2 more$/,
    null,
  ],
  [
    'a disconnected claim holder',
    { ...held, state: 'RUNNING' },
    [place('w1', { status: 'offline' }), place('w2')],
    /'w1' has it but is not connected/,
    "'w1' to connect again",
  ],
]

test.each(OTHERS)(
  '%s: named as the reason, with a suggestion if one helps',
  (...[, changes, places, reason, suggestion]) => {
    const explained = explain(wait({ queue_position: 0, ...changes }), places)
    expect(explained.reason).toMatch(reason)
    expect(explained.suggestion).toBe(suggestion)
  },
)

test.each<[string, Partial<Place>, string | undefined]>([
  ['has a free slot', { used: 1 }, undefined],
  ['has no limit', { used: 9, capacity: 0 }, undefined],
  ['does not meet requirements', { lacking: [ZONE, 'cpu 4'], status: 'offline' }, ZONE],
  ['is offline', { status: 'offline' }, 'a connection'],
  ['is unhealthy', { status: 'unhealthy', used: 0 }, 'good health'],
  ['is full', {}, 'a free slot: it holds 2 of 2'],
])('a worker that %s: its first unmet requirement', (...[, changes, missing]) => {
  expect(unmet(place('w', changes))).toBe(missing)
})
