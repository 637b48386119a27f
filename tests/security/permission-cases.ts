import { expect } from 'vitest'
import type { AuthSystem } from './auth-system.ts'
import { b5, b6, type Case, type Expected } from './cases.ts'

type PermissionRequest = Case[1] & { what: string; body: unknown }

/** Builds a request of an account with exactly these permissions. */
const holder = (permissions: string[], what: string, body?: unknown): PermissionRequest =>
  Object.assign(async (auth: AuthSystem) => ({ token: await auth.keyWith(permissions), what, body }), {
    what,
    body,
  })

const admin = (what: string, body?: unknown): PermissionRequest => Object.assign((auth: AuthSystem) => ({ token: auth.admin, what, body }), { what, body })

const role = (name: string, ...permissions: string[]) => ({ name, permissions })

type PermissionCase = [name: string, ask: PermissionRequest, expected: Expected]

export const permissionCases: PermissionCase[] = [
  ['N051: permission for the namespace', holder(['workflow:a:*'], 'GET /workflows/a/x'), 200],
  ['N051: permission for another namespace', holder(['workflow:a:*'], 'GET /workflows/b/x'), b5('workflow:b:x:read')],
  ['N051: permission for a prefix of the namespace', holder(['workflow:a:*'], 'GET /workflows/ab/x'), b5('workflow:ab:x:read')],
  ['N052: permission for the name', holder(['workflow:*:x:read'], 'GET /workflows/a/x'), 200],
  ['N052: permission for another name', holder(['workflow:*:x:read'], 'GET /workflows/a/y'), b5('workflow:a:y:read')],
  ['N052: permission for another verb', holder(['workflow:*:x:read'], 'POST /workflows/a/x/run/async'), b6('workflow:a:x:run')],
  ['N052: caller may read the workflow: all missing permissions are named', holder(['workflow:b:x:read'], 'POST /workflows/b/x/run/async'), b6('workflow:b:x:run', 'payroll:run')],
  ['N052: one permission missing', holder(['workflow:b:x:run'], 'POST /workflows/b/x/run/async'), b6('payroll:run')],
  ['N052: no permission missing', holder(['workflow:b:x:run', 'payroll:*'], 'POST /workflows/b/x/run/async'), 200],
  ['N053: star within a segment', holder(['workflow:a*:x:read'], 'GET /workflows/ab/x'), b5('workflow:ab:x:read')],
  ['N054: resource without a verb', holder(['workflow'], 'GET /workflows/a/x'), b5('workflow:a:x:read')],
  ...['workflow:', ':', '', '::', 'a::b'].map((text): PermissionCase => [`N054: ${JSON.stringify(text)} as a permission`, admin('POST /admin/roles', role('n054', text)), 400]),
  ['N055: permission in another case', holder(['Workflow:A:X:READ'], 'GET /workflows/a/x'), b5('workflow:a:x:read')],
  ...['workflow:*\n', 'workflow: *', 'workflow\uff1aa', 'wor\u212aflow:a', 'a\0', 'x'.repeat(100_000)].map((text): PermissionCase => [`N056: ${JSON.stringify(text).slice(0, 24)} as a permission`, admin('POST /admin/roles', role('n056', text)), 400]),
  ['N056: 1,001 permissions', admin('POST /admin/roles', role('n056', ...Array.from({ length: 1_001 }, (_, i) => `a:${i}`))), 422],
  ['N056: 100,000 permissions, beyond the size of a role', admin('POST /admin/roles', role('n056', ...Array.from({ length: 100_000 }, (_, i) => `a:${i}`))), 413],
  ['N056: permission of stars only', admin('POST /admin/roles', role('n056-stars', '*:*:*:*:*')), 200],
  ['N056: the same permission twice', admin('POST /admin/roles', role('n056-twice', 'a:b', 'a:b')), [200, { name: 'n056-twice', permissions: ['a:b'], built_in: false }]],
  ...['', '../admin', 'admin ', 'x'.repeat(10_000), '\u{1f600}', '.', '..', 'a\n'].map((name): PermissionCase => [`N057: role named ${JSON.stringify(name).slice(0, 20)}`, admin('POST /admin/roles', role(name)), 422]),
  ['N057: role named like a built-in one in another case', admin('POST /admin/roles', role('Admin')), 422],
  ...['admin', 'operator', 'viewer', 'worker'].flatMap((name): PermissionCase[] => [
    [`N058: change of built-in role ${name}`, admin(`PATCH /admin/roles/${name}`, { add_permissions: ['a:b'] }), 400],
    [`N058: deletion of built-in role ${name}`, admin(`DELETE /admin/roles/${name}`), 400],
    [`N058: creation of built-in role ${name}`, admin('POST /admin/roles', role(name, 'a:b')), 409],
  ]),
  ['N058: deletion of a built-in role in percent-encoding', admin('DELETE /admin/roles/%61dmin'), 400],
  ['N059: grant of an unknown role', admin('POST /admin/principals/root/roles', { role: 'nowhere' }), 404],
  ['N060: role with all permissions by a role manager (docs/security.md)', holder(['admin:roles:manage'], 'POST /admin/roles', role('reader', '*')), 409],
  ['N061: last administrator disabled', admin('POST /admin/principals/root/disable'), 409],
  ['N061: last administrator disabled by PATCH', admin('PATCH /admin/principals/root', { enabled: false }), 409],
  ['N061: last administrator deleted', admin('DELETE /admin/principals/root?force=true'), 409],
  ['N061: last administrator without the role', admin('DELETE /admin/principals/root/roles/admin'), 409],
  ['N072: permission for one workflow: list of all executions', holder(['workflow:a:x:read'], 'GET /executions'), b5('execution:*:read')],
  ['N072: permission for one workflow: list of its executions', holder(['workflow:a:x:read'], 'GET /workflows/a/x/executions'), 200],
  ['N072: offset beyond the end', holder(['workflow:a:x:read'], 'GET /workflows/a/x/executions?offset=1000000'), [200, expect.objectContaining({ executions: [] })]],
  ['N072: permission for another workflow', holder(['workflow:a:x:read'], 'GET /workflows/b/x/executions'), b5('workflow:b:x:read')],
  ['N073: permissions that a workflow requires: visible to every principal', holder([], 'GET /auth/permissions?workflow=b/x'), [200, ['workflow:b:x:read', 'workflow:b:x:run', 'payroll:run']]],
  ['N073: permissions of an unknown workflow', holder([], 'GET /auth/permissions?workflow=b/absent'), 404],
  ...['x_auto', 'absent_auto', '0'.repeat(32)].flatMap((ref): PermissionCase[] => [
    [`N074: history of ${ref}`, holder(['workflow:b:x:run'], `GET /schedules/${ref}/history`), b5('schedule:*:read')],
    [`N074: schedule ${ref}`, holder(['workflow:b:x:run'], `GET /schedules/${ref}`), b5(`schedule:${ref}:read`)],
    ...['POST', 'POST', 'PUT', 'DELETE'].map((method, i): PermissionCase => {
      const what = `${method} /schedules/${ref}${['/pause', '/resume', '', ''][i]}`
      return [`N074: ${what}`, holder(['schedule:*:read'], what, method === 'PUT' ? {} : undefined), b5('schedule:*:manage')]
    }),
  ]),
  ['execution:*:read: list of executions', holder(['execution:*:read'], 'GET /executions'), 200],
  ['execution:<id>:read: list of executions', holder([`execution:${'0'.repeat(32)}:read`], 'GET /executions'), b5('execution:*:read')],
  ['schedule:<id>:read: list of schedules', holder(['schedule:x:read'], 'GET /schedules'), b5('schedule:*:read')],
  ['schedule:*:manage: list of schedules', holder(['schedule:*:manage'], 'GET /schedules'), b5('schedule:*:read')],
  ['schedule:*:manage: pause', holder(['schedule:*:manage'], 'POST /schedules/absent-one/pause'), 404],
  ['schedule:*:read: pause', holder(['schedule:*:read'], 'POST /schedules/absent-one/pause'), b5('schedule:*:manage')],
  ['workflow:a:x:register: deletion of the workflow', holder(['workflow:a:x:register'], 'DELETE /workflows/a/x'), b5('workflow:a:*:register')],
  ['N036: expires_in_days is negative', admin('POST /admin/principals/root/keys', { name: 'n036', expires_in_days: -1 }), 422],
  ['N036: expires_in_days is 1.5', admin('POST /admin/principals/root/keys', { name: 'n036', expires_in_days: 1.5 }), 422],
  ['N036: expires_in_days is "7"', admin('POST /admin/principals/root/keys', { name: 'n036', expires_in_days: '7' }), 422],
  ['N036: expires_in_days is 1e9', admin('POST /admin/principals/root/keys', { name: 'n036', expires_in_days: 1e9 }), 422],
  ['N036: expires_in_days is null', admin('POST /admin/principals/root/keys', { name: 'n036', expires_in_days: null }), 201],
  ['API key for a user', admin('POST /admin/principals/ann/keys?issuer=IDP', { name: 'k' }), 400],
]

/** Paths that match no route, for every caller. */
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
