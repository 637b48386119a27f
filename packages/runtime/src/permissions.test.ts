import fc from 'fast-check'
import { expect, test } from 'vitest'
import { neededToRun, permits } from './permissions.ts'

test.each([
  ['*', 'workflow:a:x:read', true],
  ['workflow:a:x:read', 'workflow:a:x:read', true],
  ['workflow:a:*', 'workflow:a:x:read', true],
  ['workflow:a:*', 'workflow:b:x:read', false],
  ['workflow:a:*', 'workflow:ab:x:read', false],
  ['workflow:*:x:read', 'workflow:a:x:read', true],
  ['workflow:*:x:read', 'workflow:a:y:read', false],
  ['workflow:a*:x:read', 'workflow:a1:x:read', false],
  ['execution:*', 'execution', true],
  ['workflow:a:x', 'workflow:a:x:read', false],
  ['workflow:a:x:read:more', 'workflow:a:x:read', false],
  ['workflow', 'workflow:a:x:read', false],
  ['', 'workflow:a:x:read', false],
  [':', 'workflow:a:x:read', false],
  ['Workflow:A:X:READ', 'workflow:a:x:read', false],
  // A star that is needed is a literal.
  ['execution:0:read', 'execution:*:read', false],
  ['execution:*:read', 'execution:*:read', true],
  ['execution:*:read', 'execution:0:read', true],
  ['workflow:ns:foo:register', 'workflow:ns:*:register', false],
  ['admin:*', 'admin:*', true],
])('%j covers %j: %j', (granted, needed, covers) => expect(permits(granted, needed)).toBe(covers))

const segment = fc.stringMatching(/^[a-z0-9_-]{1,4}$/)
const permission = fc.array(segment, { minLength: 1, maxLength: 5 })

test('a permission covers itself, and only itself when it has no star', () => {
  fc.assert(
    fc.property(permission, permission, (one, other) => {
      expect(permits(one.join(':'), one.join(':'))).toBe(true)
      expect(permits(one.join(':'), other.join(':'))).toBe(one.join() === other.join())
    }),
  )
})

test('a star never takes away what was covered', () => {
  fc.assert(
    fc.property(permission, fc.nat(), (parts, at) => {
      const i = at % parts.length
      const starred = parts.map((part, j) => (i === j ? '*' : part))
      expect(permits(starred.join(':'), parts.join(':'))).toBe(true)
    }),
  )
})

test('running takes the run permission, what is declared, and the tasks that are not exempt', () => {
  const workflow = {
    namespace: 'n',
    name: 'w',
    metadata_json: JSON.stringify({
      required_permissions: ['finance:approve'],
      task_names: ['load', 'now'],
      auth_exempt_tasks: ['now'],
    }),
  } as Parameters<typeof neededToRun>[0]
  expect(neededToRun(workflow)).toEqual([
    'workflow:n:w:run',
    'finance:approve',
    'workflow:n:w:task:load:execute',
  ])
})
