import { permits } from '@windlass/domain/permissions'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { schedulesIn, scopesIn } from './permissions.ts'

test('any permissions: a workflow is in a readable scope if and only if it may be read', () => {
  const resource = 'execution'
  const part = fc.constantFrom(resource, 'a', 'x', 'read', '*')
  const any = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(':'))
  const name = fc.constantFrom('a', 'x', 'read')
  fc.assert(
    fc.property(fc.array(any, { maxLength: 3 }), name, name, (granted, namespace, workflow) => {
      const isIn = scopesIn(granted, { resource, verb: 'read' }).some(
        (scope) =>
          ['*', namespace].includes(scope.namespace) && ['*', workflow].includes(scope.name),
      )
      const needed = `${resource}:${namespace}:${workflow}:read`
      expect(isIn).toBe(granted.some((permission) => permits(permission, needed)))
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  [[], []],
  [[`schedule:${'a'.repeat(32)}:read`], ['a'.repeat(32)]],
  [[`schedule:${'a'.repeat(32)}:*`, `schedule:${'a'.repeat(32)}:read`], ['a'.repeat(32)]],
  [[`schedule:${'a'.repeat(32)}:manage`, `workflow:${'a'.repeat(32)}:read`], []],
  [['schedule:nightly:read', 'schedule:*:read', 'schedule'], []],
])('the permissions %j: name the schedules %j', (granted, ids) => {
  expect(schedulesIn(granted)).toEqual(ids)
})
