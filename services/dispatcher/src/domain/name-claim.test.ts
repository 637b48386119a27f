import { expect, test } from 'vitest'
import { resolveNameClaim } from './name-claim.ts'

const holder = { session_id: 's1', instance: 'i1', has_live_stream: true }
const applicant = { name: 'w', instance: 'i2', proven_session_id: '' }

test('live stream, no valid token: conflict', () => {
  const refused = expect.objectContaining({ kind: 'conflict' })
  expect(() => resolveNameClaim(holder, applicant)).toThrow(refused)
  expect(() => resolveNameClaim(holder, { ...applicant, instance: 'i1' })).toThrow(refused)
  expect(() => resolveNameClaim(holder, { ...applicant, proven_session_id: 's0' })).toThrow(refused)
})

test('live stream, token of its session: new session', () => {
  expect(resolveNameClaim(holder, { ...applicant, proven_session_id: 's1' })).toBe('new_session')
})

test('live stream, session ended, random id of the process: session is kept', () => {
  const instance = '0123456789abcdef'
  const old = { ...holder, instance }
  expect(resolveNameClaim(old, { ...applicant, instance })).toBe('keep_session')
  const refused = expect.objectContaining({ kind: 'conflict' })
  expect(() => resolveNameClaim(old, { ...applicant, instance: 'f'.repeat(16) })).toThrow(refused)
})

test('closed stream: the name is free', () => {
  expect(resolveNameClaim({ ...holder, has_live_stream: false }, applicant)).toBe('new_session')
})

test('same instance: session is kept; empty instance: never', () => {
  const free = { ...holder, has_live_stream: false }
  expect(resolveNameClaim(free, { ...applicant, instance: 'i1' })).toBe('keep_session')
  expect(resolveNameClaim({ ...free, instance: '' }, { ...applicant, instance: '' })).toBe(
    'new_session',
  )
})

test('session token alone: keeps the session of the same instance, and never begins another', () => {
  const renewing = { ...applicant, proven_session_id: 's1', renewal: true }
  expect(resolveNameClaim(holder, { ...renewing, instance: 'i1' })).toBe('keep_session')
  const refused = expect.objectContaining({ kind: 'forbidden' })
  expect(() => resolveNameClaim(holder, renewing)).toThrow(refused)
  expect(() => resolveNameClaim(holder, { ...renewing, instance: '' })).toThrow(refused)
})
