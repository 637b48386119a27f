import { expect } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

export const ID = '0123456789abcdef0123456789abcdef'
export const RUN = '/workflows/default/hello/run/async'

/** A request and its expected status. */
export interface Case {
  method?: string
  path?: string
  body?: string | Buffer
  headers?: Record<string, string>
  /** The execution ID exists. */
  known?: boolean
  maxBodyBytes?: number
  expected: number
}

/** Sends the request and checks the response: a refusal is JSON with a detail, without internal information. */
export async function check(given: Case): Promise<void> {
  const { method = 'GET', path = '', body, headers = {}, expected } = given
  const { call, executions } = await startGateway(
    {},
    { SVC_SERVER__MAX_BODY_BYTES: String(given.maxBodyBytes ?? 300_000) },
  )
  if (given.known) {
    await call('POST', RUN)
    const made = executions.rows.get(executions.last)
    if (made) executions.rows.set(ID, made)
  }
  // A string would be sent as text/plain.
  const bytes = body === undefined ? undefined : Buffer.from(body)
  const response = await call(method, path, { body: bytes, headers })
  const text = await response.text()
  expect(response.status, text).toBe(expected)
  if (response.status === 200) return
  expect(text).not.toMatch(/\bat .*:\d+:\d+/)
  const { detail } = JSON.parse(text)
  if (response.status !== 422) return expect(detail).toBeTypeOf('string')
  for (const problem of detail)
    expect(problem).toEqual({
      loc: expect.any(Array),
      msg: expect.any(String),
      type: expect.any(String),
    })
}
