import { expect, test } from 'vitest'
import { subjectOf } from './subjects.ts'

test.each([
  ['w1', 'workers.w1'],
  ['a.b.c', 'workers.a.b.c'],
  ['.a', 'workers.~a'],
  ['a.', 'workers.a~'],
  ['a..b', 'workers.a~.b'],
  ['...', 'workers.~~~'],
])('the subject of %j: %s, without an empty token', (name, subject) => {
  expect(subjectOf('workers', name)).toBe(subject)
})
