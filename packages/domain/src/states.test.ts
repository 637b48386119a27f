import { expect, test } from 'vitest'
import {
  EVENT_TYPES,
  isSettled,
  isState,
  isTerminal,
  STATES,
  TERMINAL_EVENTS,
  TERMINAL_STATES,
} from './states.ts'

test('twelve states: three are terminal, PAUSED is settled as well', () => {
  expect(STATES).toHaveLength(12)
  expect(STATES.filter(isTerminal)).toEqual(['COMPLETED', 'FAILED', 'CANCELLED'])
  expect(STATES.filter(isTerminal)).toEqual(TERMINAL_STATES)
  expect(STATES.filter((state) => isSettled(state) && !isTerminal(state))).toEqual(['PAUSED'])
})

test('a text in another case: not a state', () => {
  expect(isState('running')).toBe(false)
  expect(isState('RUNNING')).toBe(true)
})

test('event types: 29 of workflows and tasks, progress not among them', () => {
  expect(EVENT_TYPES.size).toBe(29)
  expect([...EVENT_TYPES].every((type) => /^(WORKFLOW|TASK)_[A-Z_]+$/.test(type))).toBe(true)
  expect(EVENT_TYPES.has('TASK_PROGRESS')).toBe(false)
})

test('terminal events: one for each terminal state', () => {
  expect([...TERMINAL_EVENTS]).toEqual([
    'WORKFLOW_COMPLETED',
    'WORKFLOW_FAILED',
    'WORKFLOW_CANCELLED',
  ])
})
