import { expect, test } from 'vitest'
import { violationsOf } from './check-history.ts'
import type { FinalExecution, LogEntry, RecordedCall, RecordedFrame, Run } from './history.ts'

const logged = (type: string, source_id = '', value: unknown = null): LogEntry => ({
  id: `${type}${source_id}`,
  type,
  source_id,
  value,
})
const step = (name: string, generation: number) => logged('TASK_COMPLETED', name, { generation })

/**
 * A valid history of one run: claimed by the first checkpoint, lost, claimed by another worker, paused, resumed,
 * completed.
 */
function validHistory() {
  const one: FinalExecution = {
    id: 'x',
    marker: 1,
    state: 'COMPLETED',
    output: 's1,s2',
    reason: '',
    events: [
      ...['WORKFLOW_SCHEDULED', 'WORKFLOW_CLAIMED'].map((type) => logged(type, 'a')),
      step('s1', 1),
      ...['WORKFLOW_SCHEDULED', 'WORKFLOW_CLAIMED', 'WORKFLOW_PAUSED'].map((type) =>
        logged(type, 'b'),
      ),
      logged('WORKFLOW_RESUMING', '', { body: 1 }),
      ...['WORKFLOW_RESUME_SCHEDULED', 'WORKFLOW_RESUME_CLAIMED'].map((type) => logged(type, 'b')),
      step('s2', 5),
      logged('WORKFLOW_COMPLETED'),
    ],
  }
  const at = (sent: number) => ({ sent, received: sent + 1, status: 200, result: {} })
  const ops: RecordedCall[] = [
    { what: 'run', marker: 1, ...at(0), result: { id: 'x' } },
    { what: 'run', marker: 2, ...at(0), status: 422 },
    {
      what: 'report',
      id: 'x',
      worker: 'a',
      generation: 1,
      events: ['TASK_COMPLETEDs1'],
      ...at(20),
    },
    {
      what: 'claim',
      id: 'x',
      worker: 'b',
      ...at(30),
      result: { generation: 3, attempt: 2, events: 5 },
    },
    { what: 'read', id: 'x', ...at(40), result: { state: 'CLAIMED', events: 5 } },
    {
      what: 'report',
      id: 'x',
      worker: 'a',
      generation: 1,
      events: ['late'],
      ...at(45),
      status: 409,
    },
    { what: 'resume', id: 'x', body: '{"body":1}', ...at(50) },
    { what: 'resume', id: 'x', body: '{"body":2}', ...at(50), status: 409 },
    {
      what: 'claim',
      id: 'x',
      worker: 'b',
      ...at(60),
      result: { generation: 5, attempt: 1, events: 9 },
    },
    { what: 'read', id: 'x', ...at(80), result: { state: 'COMPLETED', events: 11 } },
    { what: 'cancel', id: 'x', ...at(90), status: 400 },
  ]
  const frame = (worker: string, generation: number, received: number, events: number) => ({
    ...{ id: 'x', worker, generation, received, events },
    isDelivered: generation === 1,
  })
  const frames: RecordedFrame[] = [frame('a', 1, 10, 1), frame('b', 3, 29, 4), frame('b', 5, 59, 8)]
  const run: Run = { ops, frames, ended: new Map([['x', one]]), lists: [['x'], ['x']] }
  return { run, one, ops, frames }
}

type ValidHistory = ReturnType<typeof validHistory>
const insert = ({ one }: ValidHistory, at: number, ...events: LogEntry[]) =>
  void one.events.splice(at, 0, ...events)
const add = ({ ops }: ValidHistory, op: Partial<RecordedCall>) =>
  void ops.push({ id: 'x', sent: 95, received: 96, status: 200, result: {}, ...op } as RecordedCall)
const addFrame = ({ frames }: ValidHistory, frame: Partial<RecordedFrame>) => {
  const known = frames[0] as RecordedFrame
  frames.push({ ...known, ...frame })
}
/** Changes the claim of worker b under generation 3. */
const changeClaim = ({ ops }: ValidHistory, result: Partial<RecordedCall['result']>) => {
  const claim = ops.find((op) => op.what === 'claim' && op.result.generation === 3)
  Object.assign((claim as RecordedCall).result, result)
}

test('valid history: no violations', () => {
  expect(violationsOf(validHistory().run)).toEqual([])
})

test.each<[string, (made: ValidHistory) => unknown]>([
  ['E1-lost', ({ run }) => (run.ended as Map<string, FinalExecution>).delete('x')],
  [
    'E2-twice',
    ({ run, one }) => (run.ended as Map<string, FinalExecution>).set('y', { ...one, id: 'y' }),
  ],
  ['E3-phantom', (made) => (made.one.marker = 2)],
  ['lists-differ', ({ run }) => (run.lists as string[][])[1]?.pop()],
  ['illegal', (made) => insert(made, 6, logged('WORKFLOW_CLAIMED', 'c'))],
  ['illegal', (made) => insert(made, 11, logged('WORKFLOW_SCHEDULED', 'c'))],
  ['state-of-log', ({ one }) => (one.state = 'FAILED')],
  ['ends', (made) => insert(made, 11, logged('WORKFLOW_FAILED'))],
  ['stuck', ({ one }) => (one.state = 'RUNNING')],
  ['event-twice', (made) => insert(made, 3, step('s1', 1))],
  ['effect-twice', (made) => insert(made, 5, { ...step('s1', 3), id: 'again' })],
  ['C3-backwards', ({ one }) => (one.events[2] = step('s1', 9))],
  ['output', ({ one }) => (one.output = 's1')],
  ['read', (made) => add(made, { what: 'read', result: { state: 'PAUSED', events: 3 } })],
  ['E4-backwards', (made) => add(made, { what: 'read', result: { state: 'CLAIMED', events: 2 } })],
  ['E8-refused-unended', ({ one }) => (one.state = 'PAUSED')],
  ['E8-cancel-left-no-trace', (made) => add(made, { what: 'cancel', sent: 1 })],
  [
    'E6-not-ended',
    (made) => {
      made.one.state = 'PAUSED'
      add(made, { what: 'cancel' })
    },
  ],
  ['E8-cancelled-not', (made) => add(made, { what: 'cancel', result: { state: 'CANCELLED' } })],
  ['E8-cancel-after-end', (made) => add(made, { what: 'cancel' })],
  ['E8-resume-lost', (made) => add(made, { what: 'resume', body: '{"body":3}' })],
  ['E8-resume-denied', ({ ops }) => Object.assign(ops[6] as RecordedCall, { status: 409 })],
  ['E9-resume-twice', (made) => insert(made, 7, logged('WORKFLOW_RESUMING', '', { body: 1 }))],
  ['E8-approval-lost', (made) => add(made, { what: 'approve' })],
  [
    'E8-approval-denied',
    (made) => {
      insert(made, 6, logged('TASK_APPROVED'))
      add(made, { what: 'approve', status: 409 })
    },
  ],
  ['C1-two-owners', (made) => add(made, { what: 'claim', worker: 'c', result: { generation: 3 } })],
  [
    'E7-claim-after-end',
    (made) => {
      add(made, { what: 'cancel', sent: 1, received: 2, result: { state: 'CANCELLED' } })
    },
  ],
  ['C1-two-owners', (made) => addFrame(made, { worker: 'c' })],
  [
    'C1-two-owners',
    (made) => add(made, { what: 'report', worker: 'c', generation: 1, events: [], sent: 15 }),
  ],
  ['C1-unclaimed-write', ({ one }) => one.events.splice(1, 1)],
  ['C1-unclaimed-write', (made) => insert(made, 2, logged('WORKFLOW_SCHEDULED', 'a'))],
  [
    'E7-claim-after-end',
    (made) => {
      made.ops.splice(0, made.ops.length, ...made.ops.filter(({ what }) => what === 'report'))
      add(made, { what: 'cancel', sent: 1, received: 2, result: { state: 'CANCELLED' } })
    },
  ],
  ['D6-delivered-again', (made) => addFrame(made, { worker: 'b', generation: 3, events: 4 })],
  ['D6-attempts', (made) => changeClaim(made, { attempt: 1 })],
  ['D6-attempts', (made) => changeClaim(made, { attempt: 3 })],
  ['V2-event-lost', (made) => add(made, { what: 'report', generation: 5, events: ['none'] })],
  ['V3-event-of-refused', ({ ops }) => Object.assign(ops[2] as RecordedCall, { status: 409 })],
  [
    'C2-superseded-write',
    ({ ops }) => Object.assign(ops[2] as RecordedCall, { sent: 35, received: 36 }),
  ],
  ['C2-superseded-write', (made) => addFrame(made, { worker: 'b', generation: 3, received: 15 })],
  [
    'C2-superseded-write',
    (made) => {
      const times = { sent: 15, received: 16 }
      add(made, { what: 'report', worker: 'b', generation: 3, events: [], ...times })
    },
  ],
])('a history with the anomaly %s: reported', (name, spoil) => {
  const made = validHistory()
  spoil(made)
  expect(violationsOf(made.run).map((fault) => fault.split(':')[0])).toContain(name)
})
