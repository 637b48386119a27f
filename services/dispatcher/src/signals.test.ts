import { expect, test } from 'vitest'
import { subjectOf } from './signals.ts'

test.each([
  ['w1', 'workers.w1'],
  ['a.b.c', 'workers.a.b.c'],
  ['.a', 'workers.~a'],
  ['a.', 'workers.a~'],
  ['a..b', 'workers.a~.b'],
  ['...', 'workers.~~~'],
])('the signals of %j are at %s, a subject without an empty token', (name, subject) => {
  expect(subjectOf(name)).toBe(subject)
})
