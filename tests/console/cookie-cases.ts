import { expect, test } from 'vitest'
import type { ConsoleFixture } from './console-fixture.ts'

export const HEADERS = { 'x-windlass-console': '1', 'sec-fetch-site': 'same-origin' }

/** Signs in without a browser; returns the cookie. */
async function cookieFor(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/console/session`, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: key }),
  })
  expect(response.status).toBe(200)
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** Status of the answer to a GET request. */
export const statusOf = async (url: string, path: string, headers: Record<string, string>) =>
  (await fetch(url + path, { headers })).status

/** Tests of the cookie of a session. */
export function cookieCases(fixture: ConsoleFixture): void {
  test('a session cookie: accepted for the console only, and not together with another credential', async () => {
    const cookie = await cookieFor(fixture.url, fixture.auth.admin)
    const origin = fixture.url
    const results = {
      'header and Sec-Fetch-Site': await statusOf(fixture.url, '/me', { ...HEADERS, cookie }),
      'header and Origin': await statusOf(fixture.url, '/me', {
        'x-windlass-console': '1',
        origin,
        cookie,
      }),
      'no header': await statusOf(fixture.url, '/me', { 'sec-fetch-site': 'same-origin', cookie }),
      'header alone': await statusOf(fixture.url, '/me', { 'x-windlass-console': '1', cookie }),
      'another site': await statusOf(fixture.url, '/me', {
        ...HEADERS,
        'sec-fetch-site': 'cross-site',
        cookie,
      }),
      'another origin': await statusOf(fixture.url, '/me', {
        ...HEADERS,
        origin: 'http://evil.example',
        cookie,
      }),
      'the cookie twice': await statusOf(fixture.url, '/me', {
        ...HEADERS,
        cookie: `${cookie}; ${cookie}`,
      }),
      'Authorization too': await statusOf(fixture.url, '/me', {
        ...HEADERS,
        cookie,
        authorization: `Bearer ${fixture.auth.admin}`,
      }),
      'a worker route': await statusOf(fixture.url, '/workers/w/connect', { ...HEADERS, cookie }),
      'another value': await statusOf(fixture.url, '/me', {
        ...HEADERS,
        cookie: `${cookie.slice(0, -2)}AA`,
      }),
    }
    expect(results).toEqual({
      'header and Sec-Fetch-Site': 200,
      'header and Origin': 200,
      'no header': 401,
      'header alone': 401,
      'another site': 403,
      'another origin': 403,
      'the cookie twice': 401,
      'Authorization too': 400,
      'a worker route': 401,
      'another value': 401,
    })
  })

  test.each([
    ['no header of the console', { 'sec-fetch-site': 'same-origin' }],
    ['no mark of this origin', { 'x-windlass-console': '1' }],
  ])('sign-in with %s: 403', async (_, headers: Record<string, string>) => {
    const response = await fetch(`${fixture.url}/console/session`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: fixture.auth.admin }),
    })
    expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null])
  })

  test('a change by the cookie: recorded under the name of its principal', async () => {
    const { subject, key } = await fixture.auth.createAccount(['admin'])
    const cookie = await cookieFor(fixture.url, key)
    const response = await fetch(`${fixture.url}/admin/roles`, {
      method: 'POST',
      headers: { ...HEADERS, cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'by-cookie', permissions: ['workflow:*:*:read'] }),
    })
    expect(response.status).toBe(200)
    const { entries } = (await fixture.auth.requestOk(
      'GET /admin/audit?object=role:by-cookie',
    )) as never
    expect(JSON.stringify(entries)).toContain(subject)
  })
}
