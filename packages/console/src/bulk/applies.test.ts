import { expect, test } from 'vitest'
import { applies } from './applies.ts'

test.each([
  ['cancel', 'SCHEDULED', true],
  ['cancel', 'PAUSED', true],
  ['cancel', 'CANCELLING', false],
  ['cancel', 'COMPLETED', false],
  ['resume', 'PAUSED', true],
  ['resume', 'RUNNING', false],
  ['rerun', 'FAILED', true],
  ['rerun', 'RUNNING', true],
] as const)('%s in %s: %s', (action, state, expected) => {
  expect(applies(action, state)).toBe(expected)
})
