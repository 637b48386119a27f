import { expect, test } from 'vitest'
import { type Call, lastFailed } from './calls.ts'

const call = (seq: number, state: Call['state']) => ({ seq, state }) as Call

test('the call that failed: the last one that began, so that outcomes before it are kept', () => {
  const calls = [call(3, 'failed'), call(5, 'failed'), call(7, 'completed'), call(9, 'running')]
  expect(lastFailed(calls)?.seq).toBe(5)
})

test('no call failed: none', () => {
  expect(lastFailed([call(3, 'completed')])).toBeUndefined()
})
