import { expect, test } from 'vitest'
import { isName } from './names.ts'

test.each(['a', 'W-1', 'a.b_c', '...', 'x'.repeat(128), '__proto__'])('%j: valid name', (name) => {
  expect(isName(name)).toBe(true)
})

test.each(['', '.', '..', 'a/b', 'w\n1', 'w\n', 'a b', 'é', 'a:b', 'a*', 'x\0', 'x'.repeat(129)])(
  '%j: invalid name',
  (name) => {
    expect(isName(name)).toBe(false)
  },
)
