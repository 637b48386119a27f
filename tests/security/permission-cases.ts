import { expect } from 'vitest'
import type { AuthSystem } from './auth-system.ts'
import { b5, b6, type Case, type Expected } from './cases.ts'

type OfDoor = Case[1] & { what: string; body: unknown }

/** A request of somebody who holds just these permissions. */
const holder = (permissions: string[], what: string, body?: unknown): OfDoor =>
  Object.assign(async (auth: AuthSystem) => ({ token: await auth.holding(permissions), what, body }), {
    what,
    body,
  })

const admin = (what: string, body?: unknown): OfDoor => Object.assign((auth: AuthSystem) => ({ token: auth.admin, what, body }), { what, body })

const role = (name: string, ...permissions: string[]) => ({ name, permissions })

type PermissionCase = [name: string, ask: OfDoor, expected: Expected]

export const permissionCases: PermissionCase[] = [
  ['N051 its namespace', holder(['workflow:a:*'], 'GET /workflows/a/x'), 200],
  ['N051 another namespace', holder(['workflow:a:*'], 'GET /workflows/b/x'), b5('workflow:b:x:read')],
  ['N051 a longer one', holder(['workflow:a:*'], 'GET /workflows/ab/x'), b5('workflow:ab:x:read')],
  ['N052 its name', holder(['workflow:*:x:read'], 'GET /workflows/a/x'), 200],
  ['N052 another name', holder(['workflow:*:x:read'], 'GET /workflows/a/y'), b5('workflow:a:y:read')],
  ['N052 another verb', holder(['workflow:*:x:read'], 'POST /workflows/a/x/run/async'), b6('workflow:a:x:run')],
  ['N052 all that is missing, for whom may see it', holder(['workflow:b:x:read'], 'POST /workflows/b/x/run/async'), b6('workflow:b:x:run', 'payroll:run')],
  ['N052 the one that is missing', holder(['workflow:b:x:run'], 'POST /workflows/b/x/run/async'), b6('payroll:run')],
  ['N052 nothing is missing', holder(['workflow:b:x:run', 'payroll:*'], 'POST /workflows/b/x/run/async'), 200],
  ['N053 a star within a segment', holder(['workflow:a*:x:read'], 'GET /workflows/ab/x'), b5('workflow:ab:x:read')],
  ['N054 a resource alone', holder(['workflow'], 'GET /workflows/a/x'), b5('workflow:a:x:read')],
  ...['workflow:', ':', '', '::', 'a::b'].map((text): PermissionCase => [`N054 ${JSON.stringify(text)} is no permission`, admin('POST /admin/roles', role('n054', text)), 400]),
  ['N055 capitals', holder(['Workflow:A:X:READ'], 'GET /workflows/a/x'), b5('workflow:a:x:read')],
  ...['workflow:*\n', 'workflow: *', 'workflow\uff1aa', 'wor\u212aflow:a', 'a\0', 'x'.repeat(100_000)].map((text): PermissionCase => [`N056 ${JSON.stringify(text).slice(0, 24)} is no permission`, admin('POST /admin/roles', role('n056', text)), 400]),
  ['N056 too many', admin('POST /admin/roles', role('n056', ...Array.from({ length: 100_000 }, (_, i) => `a:${i}`))), 422],
  ['N056 stars only', admin('POST /admin/roles', role('n056-stars', '*:*:*:*:*')), 200],
  ['N056 twice the same', admin('POST /admin/roles', role('n056-twice', 'a:b', 'a:b')), [200, { name: 'n056-twice', permissions: ['a:b'], built_in: false }]],
  ...['', '../admin', 'admin ', 'x'.repeat(10_000), '\u{1f600}', '.', '..', 'a\n'].map((name): PermissionCase => [`N057 a role called ${JSON.stringify(name).slice(0, 20)}`, admin('POST /admin/roles', role(name)), 422]),
  ['N057 a role that looks like a built-in one', admin('POST /admin/roles', role('Admin')), 422],
  ...['admin', 'operator', 'viewer', 'worker'].flatMap((name): PermissionCase[] => [
    [`N058 ${name} is not changed`, admin(`PATCH /admin/roles/${name}`, { add_permissions: ['a:b'] }), 400],
    [`N058 ${name} is not deleted`, admin(`DELETE /admin/roles/${name}`), 400],
    [`N058 ${name} is not made again`, admin('POST /admin/roles', role(name, 'a:b')), 409],
  ]),
  ['N058 not through another spelling either', admin('DELETE /admin/roles/%61dmin'), 400],
  ['N059 an unknown role is granted', admin('POST /admin/principals/root/roles', { role: 'nowhere' }), 404],
  ['N060 who writes roles may write any: see docs/security.md', holder(['admin:roles:manage'], 'POST /admin/roles', role('reader', '*')), 409],
  ['N061 the last administrator is not disabled', admin('POST /admin/principals/root/disable'), 409],
  ['N061 nor by a change', admin('PATCH /admin/principals/root', { enabled: false }), 409],
  ['N061 nor deleted', admin('DELETE /admin/principals/root?force=true'), 409],
  ['N061 nor made less', admin('DELETE /admin/principals/root/roles/admin'), 409],
  ['N072 a right to one workflow is none to the list of all', holder(['workflow:a:x:read'], 'GET /executions'), b5('execution:*:read')],
  ['N072 it lists its own', holder(['workflow:a:x:read'], 'GET /workflows/a/x/executions'), 200],
  ['N072 far beyond the end', holder(['workflow:a:x:read'], 'GET /workflows/a/x/executions?offset=1000000'), [200, expect.objectContaining({ executions: [] })]],
  ['N072 and no other', holder(['workflow:a:x:read'], 'GET /workflows/b/x/executions'), b5('workflow:b:x:read')],
  ['N073 what a workflow asks for is told to everybody who is known', holder([], 'GET /auth/permissions?workflow=b/x'), [200, ['workflow:b:x:read', 'workflow:b:x:run', 'payroll:run']]],
  ['N073 of none nothing', holder([], 'GET /auth/permissions?workflow=b/absent'), 404],
  ...['x_auto', 'absent_auto', '0'.repeat(32)].flatMap((ref): PermissionCase[] => [
    [`N074 the history of ${ref}`, holder(['workflow:b:x:run'], `GET /schedules/${ref}/history`), b5('schedule:*:read')],
    [`N074 ${ref} itself`, holder(['workflow:b:x:run'], `GET /schedules/${ref}`), b5(`schedule:${ref}:read`)],
    ...['POST', 'POST', 'PUT', 'DELETE'].map((method, i): PermissionCase => {
      const what = `${method} /schedules/${ref}${['/pause', '/resume', '', ''][i]}`
      return [`N074 ${what}`, holder(['schedule:*:read'], what, method === 'PUT' ? {} : undefined), b5('schedule:*:manage')]
    }),
  ]),
  ['execution:*:read opens all', holder(['execution:*:read'], 'GET /executions'), 200],
  ['execution:<id>:read opens no list', holder([`execution:${'0'.repeat(32)}:read`], 'GET /executions'), b5('execution:*:read')],
  ['schedule:<id>:read opens no list', holder(['schedule:x:read'], 'GET /schedules'), b5('schedule:*:read')],
  ['schedule:*:manage opens no list', holder(['schedule:*:manage'], 'GET /schedules'), b5('schedule:*:read')],
  ['schedule:*:manage pauses', holder(['schedule:*:manage'], 'POST /schedules/absent-one/pause'), 404],
  ['schedule:*:read does not pause', holder(['schedule:*:read'], 'POST /schedules/absent-one/pause'), b5('schedule:*:manage')],
  ['register of one workflow is no register of its namespace', holder(['workflow:a:x:register'], 'DELETE /workflows/a/x'), b5('workflow:a:*:register')],
  ['N036 a key for a negative time', admin('POST /admin/principals/root/keys', { name: 'n036', expires_in_days: -1 }), 422],
  ['N036 a key for a day and a half', admin('POST /admin/principals/root/keys', { name: 'n036', expires_in_days: 1.5 }), 422],
  ['N036 a key for "7" days', admin('POST /admin/principals/root/keys', { name: 'n036', expires_in_days: '7' }), 422],
  ['N036 a key for a billion days', admin('POST /admin/principals/root/keys', { name: 'n036', expires_in_days: 1e9 }), 422],
  ['N036 a key without an end', admin('POST /admin/principals/root/keys', { name: 'n036', expires_in_days: null }), 201],
  ['a key for a person', admin('POST /admin/principals/ann/keys?issuer=IDP', { name: 'k' }), 400],
]

/** Paths that lead nowhere, whoever asks. */
export const pathCases: [name: string, path: string, status: number][] = [
  ['N062', '/workflows/*/x', 404],
  ['N063', '/workflows/a/b:read', 404],
  ['N063', '/workflows/a:b/c', 404],
  ['N063', '/workflows/a/b%3Atask', 404],
  ['N064', '/workflows/%2e%2e/admin', 404],
  ['N064', '/workflows/..%2Fadmin%2Fsecrets/x', 404],
  ['N064', '/workflows/a/b%2Fversions', 404],
  ['N065', '/workflows/a/x%00', 404],
  ['N065', '/workflows/a/x%0a', 404],
  ['N065', '/workflows/a/x%7f', 404],
  ['N065', '/workflows/a/x%ff', 400],
  ['N065', '/workflows/a/%c0%ae', 400],
  ['N065', '/workflows/a/%', 400],
  ['N066', '/ADMIN/secrets', 404],
  ['N066', '/admin/secrets/', 404],
  ['N066', '//admin/secrets', 404],
  ['N066', '/admin/./secrets', 404],
  ['N066', '/workflows/../admin/secrets', 404],
  ['N066', '/admin/secrets;x=1', 404],
  ['N066', '/admin%2Fsecrets', 404],
  ['N067', 'http://elsewhere/admin/secrets', 404],
  ['N140', '/secrets', 404],
  ['N140', '/debug', 404],
  ['N140', '/__proto__', 404],
  ['N140', '/constructor', 404],
]
