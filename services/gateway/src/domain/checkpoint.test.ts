import { expect, test } from 'vitest'
import { readCheckpoint } from './checkpoint.ts'

const event = {
  type: 'TASK_COMPLETED',
  source_id: 'add_1',
  name: 'add',
  value: 3,
  time: '2026-11-20T23:57:30.034576',
}

function idsOf(...events: object[]): string[] {
  const members = { workflow_id: 'x', workflow_namespace: 'default', workflow_name: 'hello' }
  const report = { ...members, execution_id: 'e', state: 'RUNNING', events }
  return readCheckpoint(JSON.stringify(report)).events.map(({ event_id }) => event_id)
}

test('an event without an id: gets one that depends on its content only', () => {
  const [id] = idsOf(event)
  expect(id).toMatch(/^[0-9a-f]{16}$/)
  const { type, ...rest } = event
  expect(idsOf({ ...rest, subject: null, type }, { ...event, id: null })).toEqual([id, id])
  const others = [
    { type: 'TASK_STARTED' },
    { source_id: 'add_2' },
    { name: 'sub' },
    { value: 4 },
    { time: '2026-11-20T23:57:30.034577' },
  ]
  const ids = idsOf(...others.map((change) => ({ ...event, ...change })))
  expect(new Set([id, ...ids]).size).toBe(others.length + 1)
})

test('an event with an id: keeps it', () => {
  expect(idsOf({ ...event, id: 'any text' })).toEqual(['any text'])
})
