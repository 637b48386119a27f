import { expect, test } from 'vitest'
import { applies, firstFor } from './applies.ts'

test.each([
  ['cancel', 'SCHEDULED', true],
  ['cancel', 'PAUSED', true],
  ['cancel', 'CANCELLING', false],
  ['cancel', 'COMPLETED', false],
  ['resume', 'PAUSED', true],
  ['resume', 'RUNNING', false],
  ['rerun', 'FAILED', true],
  ['rerun', 'RUNNING', true],
  ['fork', 'FAILED', true],
  ['fork', 'PAUSED', true],
] as const)('%s in %s: %s', (action, state, expected) => {
  expect(applies(action, state)).toBe(expected)
})

test('the first action: a cancel where one is possible, else another run', () => {
  const rowsOf = (...states: string[]) => states.map((state) => ({ state }))
  expect(firstFor(rowsOf('FAILED', 'RUNNING'))).toBe('cancel')
  expect(firstFor(rowsOf('FAILED', 'COMPLETED', 'CANCELLING'))).toBe('rerun')
})
