import { expect, test } from 'vitest'
import { retry } from './retry.ts'

const passing = new Error('passing')
const isRetryable = (error: unknown) => error === passing

/** A call that fails so many times before it succeeds, and the number of attempts so far. */
function failing(times: number) {
  const attempts = { count: 0 }
  const call = async () => {
    if (++attempts.count <= times) throw passing
    return 'done'
  }
  return { attempts, call }
}

test('retryable errors within the budget: repeats until the call succeeds', async () => {
  const { attempts, call } = failing(3)
  expect(await retry(call, { budgetMs: 60_000, pauseMs: 1, isRetryable })).toBe('done')
  expect(attempts.count).toBe(4)
})

test('an error that is not retryable: rejects with it after one attempt', async () => {
  const fatal = new Error('fatal')
  let attempts = 0
  const call = () => {
    attempts++
    return Promise.reject(fatal)
  }
  await expect(retry(call, { budgetMs: 60_000, pauseMs: 1, isRetryable })).rejects.toBe(fatal)
  expect(attempts).toBe(1)
})

test('no budget for a pause: rejects with the last error', async () => {
  const { attempts, call } = failing(1)
  const spent = retry(call, { budgetMs: 0, pauseMs: 1, isRetryable })
  await expect(spent).rejects.toBe(passing)
  expect(attempts.count).toBe(1)
})

test('maxRetries: the last attempt is the first plus so many', async () => {
  const { attempts, call } = failing(9)
  const limited = retry(call, { budgetMs: 60_000, pauseMs: 1, maxRetries: 2, isRetryable })
  await expect(limited).rejects.toBe(passing)
  expect(attempts.count).toBe(3)
})
