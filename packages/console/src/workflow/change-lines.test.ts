import { expect, test } from 'vitest'
import type { Schema } from '../start/form.ts'
import { memberChanges, patchLines, taskChanges } from './change-lines.ts'

test('tasks of two versions: a renamed one is removed and added', () => {
  const declared = [
    { member: 'affinity', from: ['a'], to: [] },
    { member: 'metadata.task_names', from: ['load', 'store'], to: ['store', 'fetch'] },
  ]
  expect(taskChanges({ declared })).toEqual({ added: ['fetch'], removed: ['load'] })
  expect(taskChanges({ declared: [] })).toEqual({ added: [], removed: [] })
  expect(
    taskChanges({ declared: [{ member: 'metadata.task_names', from: null, to: ['a'] }] }),
  ).toEqual({
    ...{ added: ['a'], removed: [] },
  })
})

const schema = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  ...{ type: 'object', properties, required },
})
const TEXT = { type: 'string' }

test('members of two inputs: added, removed, and those of another schema or newly required', () => {
  const from = schema({ a: TEXT, b: TEXT, c: TEXT })
  const to = schema({ b: { type: 'integer' }, c: TEXT, d: TEXT }, ['c'])
  expect(memberChanges(from, to)).toEqual({ added: ['d'], removed: ['a'], changed: ['b', 'c'] })
  expect(memberChanges(from, from)).toEqual({ added: [], removed: [], changed: [] })
})

test.each([
  [null, schema({})],
  [schema({}), null],
  [schema({}), TEXT],
])('schemas %j and %j, one of no object: no members to compare', (from, to) => {
  expect(memberChanges(from, to)).toBeUndefined()
})

test('a unified diff: the kind of each line', () => {
  expect(patchLines('@@ -1,2 +1,2 @@\n a\n-b\n+c\n\n')).toEqual([
    { kind: 'place', text: '@@ -1,2 +1,2 @@' },
    { kind: 'same', text: ' a' },
    { kind: 'removed', text: '-b' },
    { kind: 'added', text: '+c' },
    { kind: 'same', text: '' },
  ])
})
