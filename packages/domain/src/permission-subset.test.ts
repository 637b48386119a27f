import { expect, test } from 'vitest'
import { restrictTo } from './permission-subset.ts'
import { permits } from './permissions.ts'

test.each<[granted: string[], subset: string[], both: string[]]>([
  [['*'], ['workflow:a:*'], ['workflow:a:*']],
  [['workflow:a:b:run'], ['*'], ['workflow:a:b:run']],
  [['workflow:*:b:run'], ['workflow:a:*'], ['workflow:a:b:run']],
  [['workflow:*:*:run'], ['workflow:a:*:read'], []],
  [['a:*'], ['a'], ['a']],
  [['a:b'], ['a'], []],
  [['a:*:c'], ['a:b:*'], ['a:b:c']],
  [['admin:*'], ['admin:roles:read', 'workflow:*'], ['admin:roles:read']],
  [['*', 'a:*'], ['a:*'], ['a:*']],
  [[], ['*'], []],
])('%j restricted to %j: %j', (granted, subset, both) =>
  expect(restrictTo(granted, subset)).toEqual(both),
)

const segments = ['a', 'b', '*']
const patterns = [
  ...segments,
  ...segments.flatMap((x) => segments.map((y) => `${x}:${y}`)),
  ...segments.flatMap((x) => segments.flatMap((y) => segments.map((z) => `${x}:${y}:${z}`))),
]
const asked = ['a', 'b', 'a:a', 'a:b', 'b:a', 'a:b:a', 'b:b:b', 'a:a:a:a', 'c', 'a:c', 'a:c:b']

test('any two permissions: the restriction covers exactly what both cover', () => {
  for (const one of patterns)
    for (const other of patterns) {
      const both = restrictTo([one], [other])
      for (const needed of asked)
        expect(
          both.some((granted) => permits(granted, needed)),
          `${one} and ${other}: ${needed}`,
        ).toBe(permits(one, needed) && permits(other, needed))
    }
})
