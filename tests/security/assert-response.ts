import { expect } from 'vitest'
import type { Answer } from './auth-system.ts'
import type { Expected } from './cases.ts'

/** A refusal is JSON with a detail, names its scheme, and tells nothing of the inside. */
export function assertResponse({ status, body, text, headers }: Answer, expected: Expected): void {
  const [wanted, said] = typeof expected === 'number' ? [expected, undefined] : expected
  expect(status, text).toBe(wanted)
  if (said !== undefined) expect(body).toEqual(said)
  if (status === 401) expect(headers['www-authenticate']).toBe('Bearer')
  if (status >= 400) expect(body).toHaveProperty('detail')
  expect(text).not.toMatch(/\bat .*:\d+:\d+|select |insert |UNKNOWN:|ECONN/)
  expect(headers['x-powered-by']).toBeUndefined()
  expect(headers['access-control-allow-origin']).toBeUndefined()
}
