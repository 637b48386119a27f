import { expect, test } from 'vitest'
import {
  applyChange,
  parseDisplayName,
  parseName,
  parsePermissions,
  parsePrintable,
  parseType,
} from './grants.ts'

test.each([
  '*',
  'a',
  'workflow:*:{name}:read',
  'A-b_c:1',
  'workflow:n:é.v2:run',
  'workflow:n:my  flow:task:send it:execute',
  'x'.repeat(512),
])('valid permission: %.20s', (text) => expect(parsePermissions([text])).toEqual([text]))

test.each([
  '',
  ':',
  'a:',
  ':a',
  'a::b',
  'a b',
  'a b:c',
  'a: b',
  'a:b ',
  'a:b\u00a0c',
  'a\n',
  '\na',
  'a:b\n',
  'a/b',
  'a\u200b',
  'wor\u212aflow:a',
  'x'.repeat(513),
])('no permission: %j', (text) =>
  expect(() => parsePermissions(['ok', text])).toThrow(
    expect.objectContaining({ kind: 'invalid' }),
  ),
)

test('permissions on ids and names: all spellings have one normal form', () => {
  const id = '0190a000000070008000a0000000000f'
  const dashed = '0190A000-0000-7000-8000-A0000000000F'
  for (const kind of ['execution', 'schedule'])
    expect(parsePermissions([`${kind}:${dashed}:read`, `${kind}:${id}:read`])).toEqual([
      `${kind}:${id}:read`,
    ])
  expect(parsePermissions([`workflow:${dashed}:read`])).toEqual([`workflow:${dashed}:read`])
  expect(parsePermissions(['workflow:n:cafe\u0301:run'])).toEqual(['workflow:n:caf\u00e9:run'])
  expect(
    applyChange([`execution:${id}:read`], { add: [], remove: [`execution:${dashed}:*`] }),
  ).toEqual([`execution:${id}:read`])
  expect(
    applyChange([`execution:${id}:*`], { add: [], remove: [`execution:${dashed}:*`] }),
  ).toEqual([])
})

test('change of a role: adds, then removes, keeps the order and no duplicates', () => {
  const has = ['a', 'b', 'c']
  expect(applyChange(has, { add: ['d', 'a', 'd'], remove: [] })).toEqual(['a', 'b', 'c', 'd'])
  expect(applyChange(has, { add: ['d'], remove: ['b', 'd', 'missing'] })).toEqual(['a', 'c'])
})

test('more than 1,000 permissions: refused', () => {
  const many = Array.from({ length: 1_000 }, (_, i) => `p${i}`)
  expect(parsePermissions([...many, 'p0'])).toHaveLength(1_000)
  expect(() => parsePermissions([...many, 'p'])).toThrow(
    expect.objectContaining({ kind: 'conflict' }),
  )
})

test.each(['', '.', '..', 'a b', 'a\n', 'a/b', 'a:b', '*', 'é', 'x'.repeat(129)])(
  'invalid name of a role or key: %j',
  (name) =>
    expect(() => parseName('name', name)).toThrow(
      expect.objectContaining({ kind: 'unprocessable' }),
    ),
)

test.each(['', 'a\n', '\0', '\ud800', '\u0085', 'x'.repeat(256)])('invalid subject: %j', (text) =>
  expect(() => parsePrintable('subject', text)).toThrow(
    expect.objectContaining({ kind: 'unprocessable' }),
  ),
)

test('subject: any printable text is accepted unchanged; a display name is normalized to NFC', () => {
  for (const text of ['ann+1@ex ample.org', 'a:b/*', '..', ' ', '\u{1f600}'.repeat(255)])
    expect(parsePrintable('subject', text)).toBe(text)
  expect(parsePrintable('subject', 'cafe\u0301')).toBe('cafe\u0301')
  expect(parseDisplayName('cafe\u0301')).toBe('caf\u00e9')
})

test('type of a principal: only user and service_account are accepted', () => {
  expect([parseType('user'), parseType('service_account')]).toEqual(['user', 'service_account'])
  for (const type of ['', 'robot', 'USER', 'user\n']) expect(() => parseType(type)).toThrow()
})
