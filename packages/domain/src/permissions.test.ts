import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type FindLatest,
  missingPermissionsToRun,
  onlyPermissions,
  permissionsToRun,
  permits,
} from './permissions.ts'

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

test('a permission without a star: covers itself only', () => {
  fc.assert(
    fc.property(permission, permission, (one, other) => {
      expect(permits(one.join(':'), one.join(':'))).toBe(true)
      expect(permits(one.join(':'), other.join(':'))).toBe(one.join() === other.join())
    }),
  )
})

test('a star in place of a part: covers at least as much as before', () => {
  fc.assert(
    fc.property(permission, fc.nat(), (parts, at) => {
      const i = at % parts.length
      const starred = parts.map((part, j) => (i === j ? '*' : part))
      expect(permits(starred.join(':'), parts.join(':'))).toBe(true)
    }),
  )
})

/** The rules once more, in another notation. */
function covers(granted: string, needed: string): boolean {
  const segments = granted.split(':').map((part) => (part === '*' ? '[^:]*' : escaped(part)))
  if (!/(^|:)\*$/.test(granted)) return new RegExp(`^${segments.join(':')}$`, 'su').test(needed)
  const head = segments.slice(0, -1).join(':')
  return new RegExp(head === '' && segments.length === 1 ? '' : `^${head}(:.*)?$`, 'su').test(
    needed,
  )
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

/** Texts that a request could try to use as a segment. */
const hostile = fc.oneof(
  fc.constantFrom(
    '',
    '*',
    'a',
    'ab',
    'A',
    'a*',
    '*a',
    '**',
    'read',
    'a\n',
    '\n',
    ' a',
    'a ',
    '.',
    '.*',
    '\0',
  ),
  fc.constantFrom(
    '\uff1a',
    'a\uff1ab',
    '\u212a',
    'k',
    'e\u0301',
    '\u00e9',
    '\u200b',
    '{x}',
    '__proto__',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }).filter((text) => !/[:\ud800-\udfff]/.test(text)),
)
const anything = fc.array(hostile, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(':'))

test('any granted and required permission: the same decision in both notations', () => {
  fc.assert(
    fc.property(anything, anything, (granted, needed) => {
      expect(permits(granted, needed)).toBe(covers(granted, needed))
    }),
    { numRuns: 5_000 },
  )
})

test('granted permissions without a star: cover equal text only', () => {
  const plain = anything.filter((text) => !text.split(':').includes('*'))
  fc.assert(
    fc.property(plain, anything, (granted, needed) => {
      expect(permits(granted, needed)).toBe(granted === needed)
    }),
  )
})

test('a required star: covered only by a star in its place or before it', () => {
  fc.assert(
    fc.property(permission, permission, fc.nat(), (granted, asked, at) => {
      const needed = asked.map((part, i) => (i === at % asked.length ? '*' : part))
      expect(permits(granted.join(':'), needed.join(':'))).toBe(false)
    }),
  )
})

test.each([
  ['workflow:a:x:read\n', 'workflow:a:x:read'],
  ['workflow:a:x:read', 'workflow:a:x:read\n'],
  ['workflow:a', 'workflow:ab:x:read'],
  ['workflow:a:', 'workflow:a:x'],
  ['workflow::x:read', 'workflow:a:x:read'],
  ['workflow:a:x:read:', 'workflow:a:x:read'],
  ['workflow\uff1aa\uff1ax\uff1aread', 'workflow:a:x:read'],
  ['wor\u212aflow:a:x:read', 'workflow:a:x:read'],
  ['workflow:e\u0301:x:read', 'workflow:\u00e9:x:read'],
  ['workflow:a*:x:read', 'workflow:ab:x:read'],
  ['workflow:**:x:read', 'workflow:a:x:read'],
  ['* ', 'workflow:a:x:read'],
  ['*\n', 'workflow:a:x:read'],
])('%j and %j: not covered', (granted, needed) => expect(permits(granted, needed)).toBe(false))

const workflow = (name: string, metadata: object = {}) =>
  ({ namespace: 'n', name, metadata_json: JSON.stringify(metadata) }) as Workflow

const nothing: FindLatest = async () => undefined

test('a run: requires the run permission, declared permissions, and those of tasks that are not exempt', async () => {
  const declaring = workflow('w', {
    required_permissions: ['finance:approve'],
    task_names: ['load', 'now'],
    auth_exempt_tasks: ['now'],
  })
  const needed = ['workflow:n:w:run', 'finance:approve', 'workflow:n:w:task:load:execute']
  expect(await permissionsToRun(declaring, nothing)).toEqual(needed)
  expect(
    await missingPermissionsToRun(onlyPermissions(['workflow:n:*']), declaring, nothing),
  ).toEqual(['finance:approve'])
})

test('a run of nested workflows, also in cycles: requires the permissions of each workflow once', async () => {
  const catalog: Record<string, Workflow> = {
    a: workflow('a', {
      nested_workflows: [
        ['n', 'b'],
        ['n', 'gone'],
      ],
    }),
    b: workflow('b', {
      required_permissions: ['ops:b'],
      nested_workflows: [
        ['n', 'a'],
        ['n', 'c'],
      ],
    }),
    c: workflow('c', { task_names: ['t'], required_permissions: ['ops:b'] }),
  }
  const latest: FindLatest = async (_, name) => catalog[name]
  expect(await permissionsToRun(catalog.a as Workflow, latest)).toEqual([
    'workflow:n:a:run',
    'workflow:n:b:run',
    'ops:b',
    'workflow:n:c:run',
    'workflow:n:c:task:t:execute',
    'workflow:n:gone:run',
  ])
})

test('workflows that all run each other: refused after 20,000 references, and free for a caller with all permissions', async () => {
  const nested_workflows = Array.from({ length: 1_000 }, (_, i) => ['n', `w${i}`])
  const first = workflow('w0', { nested_workflows })
  let asked = 0
  const latest: FindLatest = async (_, name) => {
    asked++
    return workflow(name, { nested_workflows })
  }
  const refusal = { kind: 'invalid', message: expect.stringContaining("'n/w0' has") }
  await expect(permissionsToRun(first, latest)).rejects.toMatchObject(refusal)
  expect(asked).toBeLessThan(25)
  await expect(
    missingPermissionsToRun(onlyPermissions(['workflow:n:*']), first, latest),
  ).rejects.toMatchObject(refusal)
  expect(await missingPermissionsToRun(onlyPermissions(['*']), first, latest)).toEqual([])
})
