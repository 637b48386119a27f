import { membersOf } from '@windlass/runtime/json/json'
import { expect, test } from 'vitest'
import { type Field, fieldsOf, initialText, problemOfJson, shownOf, withField } from './form.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    amount: { type: 'number', title: 'Amount' },
    note: { type: 'string' },
    urgent: { type: 'boolean', default: false },
    size: { enum: ['s', 'l'] },
    lines: { type: 'array' },
    to: { $ref: '#/$defs/Address' },
  },
  required: ['amount', 'note', 'size'],
  $defs: { Address: { type: 'object', title: 'Address' } },
}
const fields = fieldsOf(SCHEMA) ?? []
const field = (name: string) => fields.find((one) => one.name === name) as Field

test('a schema of an object: an editor for each member', () => {
  expect(fields.map(({ name, editor, label }) => [name, editor, label])).toEqual([
    ['amount', 'number', 'Amount'],
    ['note', 'text', 'note'],
    ['urgent', 'switch', 'urgent'],
    ['size', 'choice', 'size'],
    ['lines', 'json', 'lines'],
    ['to', 'json', 'Address'],
  ])
})

test('another schema or none: no form', () => {
  expect([fieldsOf(undefined), fieldsOf({ type: 'string' }), fieldsOf({})]).toEqual([
    ...[undefined, undefined, undefined],
  ])
})

test('a text to begin with: required members and defaults', () => {
  expect(JSON.parse(initialText(SCHEMA))).toEqual({ amount: 0, note: '', urgent: false, size: 's' })
  expect([initialText({ type: 'string' }), initialText(undefined)]).toEqual(['""', 'null'])
})

test('a member is replaced: the others keep their texts, numbers beyond 2^53 too', () => {
  const text = '{"amount":9007199254740993, "other":1.10}'
  const changed = withField(text, field('note'), 'a "b"\n')
  expect(changed).toContain('"amount": 9007199254740993,')
  expect(changed).toContain('"other": 1.10,')
  expect(shownOf(membersOf(changed), field('note'))).toBe('a "b"\n')
  expect(shownOf(membersOf(changed), field('amount'))).toBe('9007199254740993')
})

test('a field is emptied: a required text stays, others are removed', () => {
  expect(JSON.parse(withField('{"note":"x"}', field('note'), ''))).toEqual({ note: '' })
  expect(withField('{"urgent":true}', field('urgent'), '')).toBe('{}')
})

test.each(['{', '{"a":}', 'nul', '', '{"a":1,}', "{'a':1}"])('%j: no JSON, and why', (text) => {
  expect(problemOfJson(text)).toMatch(/./)
})
