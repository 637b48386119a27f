import { test } from 'vitest'
import { type Case, check, ID, RUN } from './assert-response.ts'

/** Rows for `test.each` whose title shows the name and the status of each case. */
const rows = (cases: Record<string, Case>) =>
  Object.entries(cases).map(([what, given]) => [what, given.expected, given] as const)

const STATUS = `/workflows/default/hello/status/${ID}`
const JSON_TYPE = { 'content-type': 'application/json' }

const bodies: Record<string, Case> = {
  malformed: { body: '{"a": ', expected: 422 },
  'a trailing comma': { body: '[1,]', expected: 422 },
  'a comment': { body: '{/* */}', expected: 422 },
  'single quotes': { body: "{'a':1}", expected: 422 },
  'a byte order mark': { body: '\ufeff{}', expected: 422 },
  'two documents': { body: '{}{}', expected: 422 },
  NaN: { body: '{"a":NaN}', expected: 422 },
  'a raw NUL': { body: '"\0"', expected: 422 },
  'a raw line break in a string': { body: '"a\nb"', expected: 422 },
  'a byte that is not UTF-8': { body: Buffer.from([0x22, 0xff, 0x22]), expected: 422 },
  'an overlong sequence': { body: Buffer.from([0x22, 0xc0, 0xaf, 0x22]), expected: 422 },
  'a truncated sequence': { body: Buffer.from([0x22, 0xe2, 0x82, 0x22]), expected: 422 },
  'depth 512': { body: '['.repeat(512) + ']'.repeat(512), expected: 200 },
  'depth 513': { body: '['.repeat(513) + ']'.repeat(513), expected: 422 },
  'depth 100,000': { body: '['.repeat(100_000), expected: 422 },
  whitespace: { body: '  ', expected: 422 },
  'text/plain': { body: '1', headers: { 'content-type': 'text/plain' }, expected: 415 },
  'a form': {
    body: 'a=1',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    expected: 415,
  },
  'JSON in UTF-8': {
    body: '1',
    headers: { 'content-type': 'Application/JSON; Charset="UTF-8"' },
    expected: 200,
  },
  'JSON in latin1': {
    body: '1',
    headers: { 'content-type': 'application/json; charset=latin1' },
    expected: 415,
  },
  'JSON in UTF-16': {
    body: '1',
    headers: { 'content-type': 'application/json; charset=utf-16' },
    expected: 415,
  },

  'gzip declared': { body: '1', headers: { 'content-encoding': 'gzip' }, expected: 415 },
  'of the maximum size': { body: `"${'x'.repeat(998)}"`, maxBodyBytes: 1_000, expected: 200 },
  'one byte above the maximum': {
    body: `"${'x'.repeat(999)}"`,
    maxBodyBytes: 1_000,
    expected: 413,
  },
}

test.each(rows(bodies))('a run with the body %s: %i', async (_, __, given) => {
  await check({ method: 'POST', path: RUN, ...given, headers: { ...JSON_TYPE, ...given.headers } })
})

const paths: Record<string, Case> = {
  'a dash in an id': {
    path: STATUS.replace('0123456789abcdef', '01234567-89ab-cdef-'),
    expected: 404,
  },
  'no id': { path: '/executions/nope', expected: 404 },
  'an id too long': { path: `/executions/${ID}0`, expected: 404 },
  'a colon in a name': { path: '/workflows/default/a:b', expected: 404 },
  'an encoded colon': { path: '/workflows/default/a%3Ab', expected: 404 },
  'a star as a namespace': { path: '/workflows/*/hello', expected: 404 },
  'upper case in a namespace': { path: '/workflows/Default/hello', expected: 404 },
  'an encoded slash': { path: '/workflows/default%2Fhello', expected: 404 },
  'dots as a name': { path: '/workers/%2e%2e/pong', method: 'POST', expected: 404 },
  'a NUL': { path: '/workflows/default/x%00', expected: 404 },
  'a line break': { path: '/workflows/default/x%0a', expected: 404 },
  'invalid UTF-8': { path: '/workflows/default/%ff', expected: 400 },
  'invalid UTF-8 on a hot route': {
    path: '/workers/%c0%ae/pong',
    method: 'POST',
    expected: 400,
  },
  'a truncated escape': { path: '/executions/%', expected: 400 },
  'a truncated escape on a hot route': { path: `/workflows/%/hello/status/${ID}`, expected: 400 },
  'a trailing slash': { path: '/workflows/', expected: 404 },
  'two slashes': { path: '//workflows', expected: 404 },
  'another letter case': { path: '/Workflows', expected: 404 },
  'a matrix parameter': { path: '/workflows;x=1', expected: 404 },
  'a trailing slash on a hot route': { path: `${STATUS}/`, expected: 404 },
  'another letter case on a hot route': { path: STATUS.replace('status', 'Status'), expected: 404 },
  'a removed prefix': { path: '/secrets', expected: 404 },
  'the name __proto__': { path: '/__proto__', expected: 404 },
}

test.each(rows(paths))('a path with %s: %i', async (_, __, given) =>
  check({ known: true, ...given }),
)

const queries: Record<string, Case> = {
  'limit 0': { path: '/executions?limit=0', expected: 422 },
  'limit 1': { path: '/executions?limit=1', expected: 200 },
  'limit 1000': { path: '/executions?limit=1000', expected: 200 },
  'limit 1001': { path: '/executions?limit=1001', expected: 422 },
  'limit -1': { path: '/executions?limit=-1', expected: 422 },
  'limit 1.5': { path: '/executions?limit=1.5', expected: 422 },
  'limit 0x10': { path: '/executions?limit=0x10', expected: 422 },
  'limit 1e2': { path: '/executions?limit=1e2', expected: 422 },
  'an empty limit': { path: '/executions?limit=', expected: 422 },
  'two limits': { path: '/executions?limit=1&limit=2', expected: 422 },
  'offset -1': { path: '/executions?offset=-1', expected: 422 },
  'a huge offset': { path: '/executions?offset=99999999999999999999', expected: 200 },
  'an unknown state': { path: '/executions?state=dancing', expected: 400 },
  'a state in lower case': { path: '/executions?state=completed', expected: 200 },
  'the state CREATED': { path: '/executions?state=created', expected: 200 },
  'an empty state': { path: '/executions?state=', expected: 200 },
  'two states': { path: '/executions?state=a&state=b', expected: 422 },
  'a bracketed state parameter': { path: '/executions?state[$ne]=x', expected: 200 },
  'a NUL in a filter': { path: '/executions?namespace=%00', expected: 422 },
  'detailed=maybe': { path: `${STATUS}?detailed=maybe`, expected: 422 },
  'detailed twice': { path: `${STATUS}?detailed=1&detailed=1`, expected: 422 },
  'an unknown mode of cancel': {
    path: `/workflows/default/hello/cancel/${ID}?mode=stream`,
    expected: 400,
  },
  'an unknown mode of an execution read': { path: `/executions/${ID}?mode=async`, expected: 400 },
  'version 0': { method: 'POST', path: `${RUN}?version=0`, expected: 422 },
  'version -1': { method: 'POST', path: `${RUN}?version=-1`, expected: 422 },
  'version 1abc': { method: 'POST', path: `${RUN}?version=1abc`, expected: 422 },
  'an unknown version': { method: 'POST', path: `${RUN}?version=99999999999999999`, expected: 404 },
  'version 0 in a path': { path: '/workflows/default/hello/versions/0', expected: 422 },
  'version x in a path': { path: '/workflows/default/hello/versions/x', expected: 422 },
  'version 0 to delete': {
    method: 'DELETE',
    path: '/workflows/default/hello?version=0',
    expected: 422,
  },
  'a timeout that is no number': { method: 'POST', path: `${RUN}?timeout=soon`, expected: 422 },
  'an unknown wait_for': { method: 'POST', path: `${RUN}?wait_for=rain`, expected: 422 },
  'an unknown worker status': { path: '/workers?status=asleep', expected: 422 },
  'an undeclared parameter': { path: '/executions?colour=blue', expected: 200 },
}

test.each(rows(queries))('a query with %s: %i', async (_, __, given) =>
  check({ known: true, ...given }),
)

test('a body without a content type: read as JSON', () =>
  check({ method: 'POST', path: RUN, body: '1', expected: 200 }))
