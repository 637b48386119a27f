import { expect, test } from 'vitest'
import { address, changed, executionAddress, segmentsOf, wholeOf } from './address.ts'

test('values of a query: empty and undefined ones are left out', () => {
  expect(address('executions', { state: 'FAILED', name: '', offset: undefined })).toBe(
    'executions?state=FAILED',
  )
  expect(address('executions', {})).toBe('executions')
})

test('a change: other values of the address stay', () => {
  const query = new URLSearchParams('state=FAILED&offset=50')
  expect(changed('executions', query, { offset: undefined, namespace: 'a b' })).toBe(
    'executions?state=FAILED&namespace=a+b',
  )
})

test.each(['a/b', '..', '?x=1', '<script>', '%', 'ü \u202e'])(
  'a name %j in an address: one segment that reads back',
  (name) => {
    const { pathname } = new URL(executionAddress(`x${name}`), 'http://h/console/')
    expect(segmentsOf(pathname.slice('/console/'.length))).toEqual(['executions', `x${name}`])
  },
)

test('a path by hand that cannot be decoded: its text', () => {
  expect(segmentsOf('executions/%zz')).toEqual(['executions', '%zz'])
})

test.each([
  ['7', 7],
  ['-1', 3],
  ['1e3', 3],
  ['', 3],
  [null, 3],
  ['999999999', 1_000_000],
  ['9999999999', 3],
])('a whole number %j: %d', (text, number) => {
  expect(wholeOf(text, 3)).toBe(number)
})
