import { setTimeout as sleep } from 'node:timers/promises'

export interface RetryOptions {
  /** No attempt begins later than this after the first. */
  budgetMs: number
  pauseMs: number
  maxRetries?: number
  isRetryable(error: unknown): boolean
}

/** Repeats a call that is safe to repeat until it succeeds, its error is not retryable or the budget is spent. */
export async function retry<T>(
  call: () => Promise<T>,
  { budgetMs, pauseMs, maxRetries = Number.POSITIVE_INFINITY, isRetryable }: RetryOptions,
): Promise<T> {
  const endsAt = performance.now() + budgetMs
  for (let retries = 0; ; retries++) {
    try {
      return await call()
    } catch (error) {
      const hasBudget = retries < maxRetries && performance.now() + pauseMs <= endsAt
      if (!hasBudget || !isRetryable(error)) throw error
      await sleep(pauseMs)
    }
  }
}
