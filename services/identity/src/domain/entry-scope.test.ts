import { matchesPattern } from '@windlass/domain/name-pattern'
import type { Entry } from '@windlass/proto/windlass/identity/v1/secrets'
import { expect, test } from 'vitest'
import { changedScope, isInScope } from './entry-scope.ts'

test.each([
  ['team', 'team', true],
  ['team', 'teams', false],
  ['team', 'Team', false],
  ['*', '', true],
  ['*', 'anything', true],
  ['team-*', 'team-a', true],
  ['team-*', 'team-', true],
  ['team-*', 'a-team-b', false],
  ['*-prod', 'a-prod', true],
  ['*-prod', 'a-prod-b', false],
  ['a*b*c', 'a1b2c', true],
  ['a*b*c', 'abc', true],
  ['a*b*c', 'acb', false],
  ['ab*ba', 'aba', false],
  ['a.c', 'abc', false],
  ['a**b', 'ab', true],
])('the pattern %s, the name %s: %s', (pattern, name, expected) => {
  expect(matchesPattern(pattern, name)).toBe(expected)
})

test('many stars: matched in time linear in pattern and name', () => {
  expect(matchesPattern('a*'.repeat(64), 'a'.repeat(100_000).concat('b'))).toBe(true)
  expect(matchesPattern(`${'*a'.repeat(63)}c`, 'a'.repeat(100_000))).toBe(false)
})

const user = { namespace: 'a', workflow: 'w' }

test.each([
  [undefined, undefined, user, true],
  [undefined, undefined, undefined, true],
  [['a'], undefined, user, true],
  [['b'], undefined, user, false],
  [['a'], ['v'], user, false],
  [['a'], ['v', 'w'], user, true],
  [['*'], undefined, undefined, false],
  [[], undefined, user, false],
])('namespaces %j and workflows %j for %j: %s', (namespaces, workflows, workflow, expected) => {
  expect(isInScope({ namespaces, workflows }, workflow)).toBe(expected)
})

const entry = (changes: Partial<Entry>): Entry => ({
  ...{ name: 'a', value_json: '1', version: 0, previous_until: undefined },
  ...changes,
})

test('a change: members that are absent stay, other members replace', () => {
  const current = { namespaces: ['a'], workflows: ['w'] }
  expect(changedScope(entry({}), current)).toEqual(current)
  expect(changedScope(entry({}), undefined)).toEqual({
    namespaces: undefined,
    workflows: undefined,
  })
  const all = { items: [], all: true }
  const two = { items: ['c', 'b', 'c'], all: false }
  expect(changedScope(entry({ namespaces: all, workflows: two }), current)).toEqual({
    namespaces: undefined,
    workflows: ['b', 'c'],
  })
})

test.each([['a/b'], [''], ['\n'], ['x'.repeat(129)]])('the pattern %j: refused', (pattern) => {
  const namespaces = { items: [pattern], all: false }
  expect(() => changedScope(entry({ namespaces }), undefined)).toThrow('must be at most 100')
})
