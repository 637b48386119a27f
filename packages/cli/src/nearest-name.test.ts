import { expect, test } from 'vitest'
import { findNearest } from './nearest-name.ts'

const NAMES = ['principal list', 'principal create', 'me', '--roles', '--issuer']

test.each([
  ['principal creat', 'principal create'],
  ['prncipal list', 'principal list'],
  ['--role', '--roles'],
  ['mee', 'me'],
  ['--rolse', '--roles'],
  ['deploy', undefined],
  ['', undefined],
  ['x'.repeat(100_000), undefined],
])('%j: the nearest name is %j', (typed, nearest) => {
  expect(findNearest(typed, NAMES)).toBe(nearest)
})
