import { expect, test } from 'vitest'
import { admit } from './admission.ts'

const holder = { session_id: 's1', instance: 'i1', live: true }
const applicant = { name: 'w', instance: 'i2', proven_session_id: '' }

test('a name with a live stream is refused to whoever cannot show its token', () => {
  const refused = expect.objectContaining({ kind: 'conflict' })
  expect(() => admit(holder, applicant)).toThrow(refused)
  expect(() => admit(holder, { ...applicant, instance: 'i1' })).toThrow(refused)
  expect(() => admit(holder, { ...applicant, proven_session_id: 's0' })).toThrow(refused)
})

test('whoever shows the token takes the name over', () => {
  expect(admit(holder, { ...applicant, proven_session_id: 's1' })).toBe('begins a session')
})

test('a closed stream frees the name', () => {
  expect(admit({ ...holder, live: false }, applicant)).toBe('begins a session')
})

test('the same process keeps its session, a nameless process never does', () => {
  const free = { ...holder, live: false }
  expect(admit(free, { ...applicant, instance: 'i1' })).toBe('keeps its session')
  expect(admit({ ...free, instance: '' }, { ...applicant, instance: '' })).toBe('begins a session')
})
