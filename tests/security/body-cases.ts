import { expect } from 'vitest'
import type { AuthSystem, RequestSpec } from './auth-system.ts'
import type { Case, Expected } from './cases.ts'

const RUN = 'POST /workflows/a/x/run/async'
const P = '/admin/principals'

/** Builds a request of the administrator. */
const admin =
  (what: string, given: RequestSpec | ((auth: AuthSystem) => RequestSpec) = {}): Case[1] =>
  (auth) => ({ what, token: auth.admin, ...(typeof given === 'function' ? given(auth) : given) })
const run = (raw: string | Buffer, headers = {}) => admin(RUN, { raw, headers })
const typed = (type: string) => run('1', { 'content-type': type })
const input = (value: unknown): Expected => [200, expect.objectContaining({ input: value })]
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

const documents: Case[] = [
  ...['{"a": ', '[1,]', '{/* */}', "{'a':1}", '\ufeff{}', '{}{}', '{"a":NaN}', '"\0"', '"a\nb"', '  '].map((raw): Case => [`N091: ${JSON.stringify(raw)}`, run(raw), 422]),
  ['N091: empty body declared as JSON', run(''), input(null)],
  ...[null, 0, 'x', [], false, {}, ''].map((value): Case => [`N092: input ${JSON.stringify(value)}`, run(JSON.stringify(value)), input(value)]),
  ['N092: no input', admin(RUN), input(null)],
  ...['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', 'application/json; charset=utf-16', 'application/xml', 'x'].map((type): Case => [`N093: ${type}`, typed(type), 415]),
  ['N093: media type with a charset', typed('Application/JSON; Charset="UTF-8"'), 200],
  ['N094: 512 levels', run(nested(512)), 200],
  ...[513, 100_000, 1_000_000].map((depth): Case => [`N094: ${depth} levels`, run(nested(depth)), 422]),
  ['N095: body over 16 MiB', run(`"${'x'.repeat(16 * 2 ** 20)}"`), 413],
  ['N095: body over 16 MiB to an admin route', admin('POST /admin/roles', { raw: `{"name":"${'x'.repeat(16 * 2 ** 20)}"}` }), 413],
  ['N095: gzip', run('1', { 'content-encoding': 'gzip' }), 415],
  ['N095: one key of 1 MiB', run(`{"${'k'.repeat(2 ** 20)}":1}`), 200],
  ...[
    [0x22, 0xff, 0x22],
    [0x22, 0xc0, 0xaf, 0x22],
    [0x22, 0xe2, 0x82, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
  ].map((bytes): Case => [`N102: invalid UTF-8 ${bytes}`, run(Buffer.from(bytes)), 422]),
  ['N107: input that violates the schema', admin('POST /workflows/a/typed/run/async', { body: 'three' }), 422],
  ['N107: input that fits the schema', admin('POST /workflows/a/typed/run/async', { body: 3 }), 200],
]

/** Inputs that are returned byte for byte. */
export const payloadCases: [name: string, raw: string][] = [
  ...['9007199254740993', '1e400', '-0', '1.0', '1E+2', '9'.repeat(100_000)].map((raw): [string, string] => ['N100', raw]),
  ...['"\\u0000"', '"\\ud800"', '"\u2028"', '"😀"', '"\\u00e9"'].map((raw): [string, string] => ['N101', raw]),
  ['N097', '{"role":"viewer","role":"admin"}'],
  ['N099', '{"__proto__":{"enabled":true},"constructor":{"prototype":{"enabled":true}}}'],
]

const twice = (what: string, raw: string): Case => [`N097: ${what} ${raw}`, admin(what, { raw }), 422]
const polluting = (what: string, valid: object): Case => [`N098: ${what}`, admin(what, { raw: `{"__proto__":{"enabled":false,"name":"p"},"constructor":{"prototype":{"enabled":false}},${JSON.stringify(valid).slice(1)}` }), expect.anything() as never]

const account = { type: 'service_account', subject: 'n104', roles: [] }
const schedule = { name: 's', workflow_name: 'a/x', schedule_config: { type: 'interval', interval_seconds: 3_600 } }
const NUL = 'a\0'

const members: Case[] = [
  twice(`POST ${P}`, '{"type":"user","subject":"a","roles":["viewer"],"roles":["admin"]}'),
  twice(`POST ${P}/root/roles`, '{"role":"viewer","role":"admin"}'),
  twice('POST /admin/roles', '{"name":"r","permissions":[],"permiss\\u0069ons":["*"]}'),
  twice('POST /admin/secrets', '{"name":"a","name":"b","value":1}'),
  twice('POST /schedules', '{"name":"s","workflow_name":"a/x","schedule_config":{"type":"once","type":"cron"}}'),
  ...[
    [`POST ${P}`, { type: 'user', subject: NUL }],
    [`POST ${P}`, { type: 'user', subject: 'a', external_issuer: NUL }],
    [`POST ${P}`, { type: 'user', subject: 'a', display_name: NUL }],
    [`POST ${P}`, { type: 'user', subject: 'a', roles: [NUL] }],
    [`PATCH ${P}/root`, { display_name: NUL }],
    [`POST ${P}/root/roles`, { role: NUL }],
    [`POST ${P}/root/keys`, { name: NUL }],
    ['POST /admin/roles', { name: NUL, permissions: [] }],
    ['POST /admin/roles/viewer/clone', { new_name: NUL }],
    ['POST /admin/secrets', { name: NUL, value: 1 }],
    ['POST /admin/configs', { name: NUL, value: 1 }],
    ['POST /schedules', { ...schedule, name: NUL }],
    ['POST /schedules', { ...schedule, description: NUL }],
    ['POST /schedules', { ...schedule, workflow_name: NUL }],
  ].map(([what, body]): Case => [`N103: ${what} ${JSON.stringify(body)}`, admin(String(what), { body }), 422]),
  ...[`${P}/root?issuer=%00`, '/executions?namespace=%00', '/schedules?workflow_name=%00', '/admin/audit?actor=%00'].map((path): Case => [`N103: ${path}`, admin(`GET ${path}`), 422]),
  ...['root', '', null, 1, 'User', 'service-account'].map((type): Case => [`N106: type ${JSON.stringify(type)}`, admin(`POST ${P}`, { body: { ...account, type } }), 422]),
  ['N105: schedule with read-only members', admin('POST /schedules', { body: { ...schedule, id: 'x', run_count: 7, created_by: 'eve' } }), 422],
]

const query = (name: string, path: string, expected: Expected): Case => [`${name}: ${path.slice(0, 60)}`, admin(`GET ${path}`), expected]
const V = '/workflows/a/x'

const queries: Case[] = [
  ...['-1', '0', '1.5', '1e9', 'abc', '0x10', '1001', '', '1&limit=2'].map((limit) => query('N108', `/executions?limit=${limit}`, 422)),
  ...['1', '1000'].map((limit) => query('N108', `/executions?limit=${limit}`, 200)),
  query('N108', '/executions?offset=-1', 422),
  query('N108', '/executions?offset=9223372036854775808', 200),
  query('N109', '/executions?state=dancing', 400),
  query('N109', '/executions?state=completed', 200),
  query('N109', '/executions?state=', 200),
  query('N109', '/executions?state=a&state=b', 422),
  ...['0', '-1', '1abc', '1e30', ''].flatMap((version): Case[] => [[`N110: run ${version}`, admin(`${RUN}?version=${version}`, { body: null }), 422], [`N110: delete ${version}`, admin(`DELETE ${V}?version=${version}`), 422], query('N110', `${V}/versions/${version}`, version === '' ? 404 : 422)]),
  query('N110', `${V}/versions/99999999999`, 404),
  ...['maybe', '[]', '1&detailed=1'].map((flag) => query('N111', `/executions/${'0'.repeat(32)}?detailed=${flag}`, 422)),
  ...['True', '1', 'yes', 'false'].map((flag) => query('N111', `/executions/${'0'.repeat(32)}?detailed=${flag}`, 404)),
  query('N112', `/executions?a${'[b]'.repeat(3_000)}=1`, 200),
  query('N112', '/executions?state[$ne]=x', 200),
  query('N112', `/workflows?namespace=${'x'.repeat(20_000)}`, 431),
]

export const bodyCases: Case[] = [...documents, ...members, ...queries]

/** Bodies that try to pollute the prototype of all objects, each with a valid request around it. */
export const pollutionCases: Case[] = [
  [`POST ${P}`, { ...account, subject: 'n098' }],
  [`PATCH ${P}/n098`, { display_name: 'x' }],
  ['POST /admin/roles', { name: 'n098', permissions: [] }],
  ['PATCH /admin/roles/n098', { add_permissions: ['a:b'] }],
  ['POST /admin/secrets', { name: 'n098', value: 1 }],
  ['POST /admin/configs', { name: 'n098', value: 1 }],
].map(([what, valid]) => polluting(String(what), valid as object))

/** Request heads that no HTTP library would send. */
export const headerCases: [name: string, lines: string[], status: number][] = [
  ['N113: header with a NUL', ['X-A: a\0b'], 400],
  ['N113: folded header', ['X-A: a', ' b'], 400],
  ['N113: Content-Length and Transfer-Encoding', ['Content-Length: 4', 'Transfer-Encoding: chunked'], 400],
  ['N113: two Content-Length headers', ['Content-Length: 4', 'Content-Length: 5'], 400],
  ['N113: unknown transfer coding', ['Transfer-Encoding: xchunked'], 400],
  ['N113: header name with a blank', ['X A: b'], 400],
  ['N113: head over the size limit', [`X-A: ${'x'.repeat(20_000)}`], 431],
]
