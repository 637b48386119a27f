import { expect, test } from 'vitest'
import { actOf, NOTHING_TYPED, problemIn } from './act-options.ts'

const TYPED = { after: '12', version: '3', input: '{"n":9007199254740993}' }

test.each([
  ['cancel', { action: 'cancel' }],
  ['resume', { action: 'resume' }],
  ['rerun', { action: 'rerun', version: 3, input: TYPED.input }],
  ['fork', { action: 'fork', after: 12, version: 3, input: TYPED.input }],
] as const)('%s: only what the action takes is sent', (action, expected) => {
  expect(actOf(action, TYPED)).toEqual(expected)
})

test('nothing typed: version and input are those of each execution', () => {
  expect(actOf('rerun', NOTHING_TYPED)).toEqual({ action: 'rerun' })
  expect(actOf('fork', NOTHING_TYPED)).toEqual({ action: 'fork', after: 0 })
})

test.each([
  ['fork', { after: '' }, 'After entry: must be a whole number from 0.'],
  ['fork', { after: '-1' }, 'After entry: must be a whole number from 0.'],
  ['fork', { after: '1.5' }, 'After entry: must be a whole number from 0.'],
  ['rerun', { after: '' }, undefined],
  ['rerun', { version: '0' }, 'Version: must be a whole number from 1.'],
  ['fork', { version: 'x' }, 'Version: must be a whole number from 1.'],
  ['fork', { input: '{' }, expect.stringMatching(/^Input: ./)],
  ['cancel', { after: 'x', version: 'x', input: '{' }, undefined],
  ['fork', {}, undefined],
] as const)('%s with %j: %s', (action, typed, problem) => {
  expect(problemIn(action, { ...NOTHING_TYPED, ...typed })).toEqual(problem)
})
