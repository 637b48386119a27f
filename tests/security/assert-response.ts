import { expect } from 'vitest'
import type { Answer } from './auth-system.ts'
import type { Expected } from './cases.ts'

/** Asserts status and body; a refusal is JSON with a `detail` and reveals no internal details. */
export function assertResponse({ status, body, text, headers }: Answer, expected: Expected): void {
  const [expectedStatus, expectedBody] =
    typeof expected === 'number' ? [expected, undefined] : expected
  expect(status, text).toBe(expectedStatus)
  if (expectedBody !== undefined) expect(body).toEqual(expectedBody)
  if (status === 401) expect(headers['www-authenticate']).toBe('Bearer')
  if (status >= 400) expect(body).toHaveProperty('detail')
  expect(text).not.toMatch(/\bat .*:\d+:\d+|select |insert |UNKNOWN:|ECONN/)
  expect(headers['x-powered-by']).toBeUndefined()
  expect(headers['access-control-allow-origin']).toBeUndefined()
}
