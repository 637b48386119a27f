import { expect, test } from 'vitest'
import {
  namespaceOf,
  plainNameOf,
  scheduleNameOf,
  splitWorkflowRef,
  workflowNameOf,
} from './names.ts'

test.each([
  ['default', true],
  ['a-b_2', true],
  ['0', true],
  ['A', false],
  ['-a', false],
  ['', false],
  ['a'.repeat(65), false],
  ['*', false],
  ['a:b', false],
])('namespace %j: valid is %j', (text, isName) =>
  expect(namespaceOf(text) !== undefined).toBe(isName),
)

test.each([
  ['w1', true],
  ['A.b-c_d', true],
  ['...', true],
  ['__proto__', true],
  ['.', false],
  ['..', false],
  ['a/b', false],
  ['a b', false],
  ['ü', false],
  ['', false],
  ['w\n', false],
  ['a:b', false],
  ['a*', false],
  ['x\0', false],
  ['w'.repeat(129), false],
])('worker name %j: valid is %j', (text, isName) =>
  expect(plainNameOf(text) !== undefined).toBe(isName),
)

test('workflow names: letters of any script in NFC, no separators or control characters', () => {
  expect(workflowNameOf('gru\u0308ße')).toBe('grüße')
  expect(workflowNameOf('日本 語')).toBe('日本 語')
  for (const text of ['a:b', 'a*', 'a/b', 'a\n', 'a\0', '..', ''])
    expect(workflowNameOf(text)).toBe(undefined)
})

test('schedule names: any printable text without a slash', () => {
  expect(scheduleNameOf('every day (9:00) *')).toBe('every day (9:00) *')
  for (const text of ['a/b', '..', 'a\tb', 'a\u200bb', '', 'x'.repeat(256)])
    expect(scheduleNameOf(text)).toBe(undefined)
})

test('a workflow name without a namespace: in the namespace default', () => {
  expect(splitWorkflowRef('a')).toEqual({ namespace: 'default', name: 'a' })
  expect(splitWorkflowRef('n/a/b')).toEqual({ namespace: 'n', name: 'a/b' })
})
