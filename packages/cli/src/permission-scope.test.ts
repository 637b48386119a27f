import { expect, test } from 'vitest'
import { namespaceOfPermission } from './permission-scope.ts'

test.each([
  ['*', '*'],
  ['workflow:*', '*'],
  ['workflow:*:*:read', '*'],
  ['workflow:team:*', 'team'],
  ['workflow:team:report:run', 'team'],
  ['execution:team:*', 'team'],
  ['execution:team:report:read', 'team'],
  ['execution:*:read', '*'],
  ['execution:0123456789abcdef0123456789abcdef:read', ''],
  ['schedule:*:manage', '*'],
  ['schedule:team:report:manage', 'team'],
  ['admin:*', ''],
  ['config:*:read', ''],
  ['', ''],
])('permission %s: concerns the namespace %j', (permission, namespace) => {
  expect(namespaceOfPermission(permission)).toBe(namespace)
})
