import { expect, test } from 'vitest'
import { changed, nameIn, permissionsOf, textIn, typeOf } from './grants.ts'

test.each(['*', 'a', 'workflow:*:{name}:read', 'A-b_c:1', 'workflow:n:é.v2:run', 'x'.repeat(512)])(
  'a permission: %.20s',
  (text) => expect(permissionsOf([text])).toEqual([text]),
)

test.each([
  '',
  ':',
  'a:',
  ':a',
  'a::b',
  'a b',
  'a\n',
  '\na',
  'a:b\n',
  'a/b',
  'a\u200b',
  'wor\u212aflow:a',
  'x'.repeat(513),
])('no permission: %j', (text) =>
  expect(() => permissionsOf(['ok', text])).toThrow(expect.objectContaining({ kind: 'invalid' })),
)

test('an id is the same in all its forms, and so is a name', () => {
  const id = '0190a000000070008000a0000000000f'
  const dashed = '0190A000-0000-7000-8000-A0000000000F'
  for (const kind of ['execution', 'schedule'])
    expect(permissionsOf([`${kind}:${dashed}:read`, `${kind}:${id}:read`])).toEqual([
      `${kind}:${id}:read`,
    ])
  expect(permissionsOf([`workflow:${dashed}:read`])).toEqual([`workflow:${dashed}:read`])
  expect(permissionsOf(['workflow:n:cafe\u0301:run'])).toEqual(['workflow:n:caf\u00e9:run'])
  expect(changed([`execution:${id}:read`], { add: [], remove: [`execution:${dashed}:*`] })).toEqual(
    [`execution:${id}:read`],
  )
  expect(changed([`execution:${id}:*`], { add: [], remove: [`execution:${dashed}:*`] })).toEqual([])
})

test('a change adds, then removes, and keeps each once and in its place', () => {
  const has = ['a', 'b', 'c']
  expect(changed(has, { add: ['d', 'a', 'd'], remove: [] })).toEqual(['a', 'b', 'c', 'd'])
  expect(changed(has, { add: ['d'], remove: ['b', 'd', 'missing'] })).toEqual(['a', 'c'])
})

test('a role has at most a thousand permissions', () => {
  const many = Array.from({ length: 1_000 }, (_, i) => `p${i}`)
  expect(permissionsOf([...many, 'p0'])).toHaveLength(1_000)
  expect(() => permissionsOf([...many, 'p'])).toThrow(expect.objectContaining({ kind: 'conflict' }))
})

test.each(['', '.', '..', 'a b', 'a\n', 'a/b', 'a:b', '*', 'é', 'x'.repeat(129)])(
  'no name of a role or key: %j',
  (name) =>
    expect(() => nameIn('name', name)).toThrow(expect.objectContaining({ kind: 'unprocessable' })),
)

test.each(['', 'a\n', '\0', '\ud800', '\u0085', 'x'.repeat(256)])('no subject: %j', (text) =>
  expect(() => textIn('subject', text)).toThrow(expect.objectContaining({ kind: 'unprocessable' })),
)

test('a subject is whatever its issuer chose, the same in all its forms', () => {
  for (const text of ['ann+1@ex ample.org', 'a:b/*', '..', ' ', '\u{1f600}'.repeat(255)])
    expect(textIn('subject', text)).toBe(text)
  expect(textIn('subject', 'cafe\u0301')).toBe('caf\u00e9')
})

test('there are two types of principals', () => {
  expect([typeOf('user'), typeOf('service_account')]).toEqual(['user', 'service_account'])
  for (const type of ['', 'robot', 'USER', 'user\n']) expect(() => typeOf(type)).toThrow()
})
