import { expect, test } from 'vitest'
import { EVENT_TYPES, isFinal, isState, STATES } from './states.ts'

test('there are twelve states, of which three are final', () => {
  expect(STATES).toHaveLength(12)
  expect(STATES.filter(isFinal)).toEqual(['COMPLETED', 'FAILED', 'CANCELLED'])
  expect(isState('running')).toBe(false)
})

test('a log may hold 29 types of events, progress is none of them', () => {
  expect(EVENT_TYPES.size).toBe(29)
  expect([...EVENT_TYPES].every((type) => /^(WORKFLOW|TASK)_[A-Z_]+$/.test(type))).toBe(true)
  expect(EVENT_TYPES.has('TASK_PROGRESS')).toBe(false)
})
