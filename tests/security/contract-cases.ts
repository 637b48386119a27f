import { expect } from 'vitest'
import { b1, b5, type Expected } from './cases.ts'

/** A request of an administrator and its whole response. Cases run in order, alternating between gateways. */
export type ContractCase = [what: string, body: unknown, expected: Expected]

const P = '/admin/principals'
const R = '/admin/roles'
const S = '/admin/secrets'
const AT_IDP = `?issuer=${encodeURIComponent('https://idp.example/')}`

const ID = expect.stringMatching(/^[0-9a-f]{32}$/)
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const refusal = (status: number, detail: string): Expected => [status, { detail }]
const noPrincipal = refusal(404, "Principal 'absent' not found")

const robot = {
  ...{ id: ID, subject: 'robot', type: 'service_account', external_issuer: 'svc' },
  ...{ display_name: null, enabled: true, roles: ['viewer'] },
}
const person = { ...robot, type: 'user', external_issuer: 'https://idp.example/', display_name: 'R.', roles: [] }
const wanted = { type: 'service_account', subject: 'robot', roles: ['viewer'] }

export const principalCases: ContractCase[] = [
  [`POST ${P}`, wanted, [201, robot]],
  [`POST ${P}`, wanted, refusal(409, "Principal 'robot' already exists at issuer 'svc'")],
  [`POST ${P}`, { type: 'user', subject: 'robot', external_issuer: 'https://idp.example/', display_name: 'R.' }, [201, person]],
  [`POST ${P}`, { ...wanted, subject: 'other', roles: ['nope'] }, refusal(404, "Role 'nope' not found")],
  [`GET ${P}/other`, undefined, 404],
  [`GET ${P}`, undefined, [200, expect.arrayContaining([robot, person])]],
  [`GET ${P}?type=user`, undefined, [200, [person]]],
  [`GET ${P}?type=service_account`, undefined, [200, expect.not.arrayContaining([person])]],
  [`GET ${P}?type=robot`, undefined, 422],
  [`GET ${P}/robot`, undefined, [200, robot]],
  [`GET ${P}/robot?issuer=svc`, undefined, [200, robot]],
  [`GET ${P}/robot${AT_IDP}`, undefined, [200, person]],
  [`GET ${P}/absent`, undefined, noPrincipal],
  [`GET ${P}/robot?issuer=elsewhere`, undefined, 404],
  [`PATCH ${P}/robot`, { display_name: 'Robot' }, [200, { ...robot, display_name: 'Robot' }]],
  [`PATCH ${P}/robot`, { enabled: false }, [200, { ...robot, display_name: 'Robot', enabled: false }]],
  [`PATCH ${P}/robot`, { enabled: true, display_name: null }, [200, { ...robot, display_name: 'Robot' }]],
  [`PATCH ${P}/robot${AT_IDP}`, {}, [200, person]],
  [`PATCH ${P}/absent`, { enabled: true }, noPrincipal],
  [`POST ${P}/robot/disable`, undefined, [200, { status: 'success', subject: 'robot', enabled: false }]],
  [`GET ${P}/robot`, undefined, [200, { ...robot, display_name: 'Robot', enabled: false }]],
  [`GET ${P}/robot${AT_IDP}`, undefined, [200, person]],
  [`POST ${P}/robot/enable`, undefined, [200, { status: 'success', subject: 'robot', enabled: true }]],
  [`POST ${P}/absent/enable`, undefined, noPrincipal],
  [`POST ${P}/absent/disable`, undefined, noPrincipal],
  [`POST ${P}/robot/roles`, { role: 'operator' }, [200, { status: 'success', role: 'operator' }]],
  [`POST ${P}/robot/roles`, { role: 'operator' }, [200, { status: 'success', role: 'operator' }]],
  [`GET ${P}/robot`, undefined, [200, expect.objectContaining({ roles: ['operator', 'viewer'] })]],
  [`POST ${P}/robot/roles`, { role: 'nope' }, refusal(404, "Role 'nope' not found")],
  [`POST ${P}/absent/roles`, { role: 'viewer' }, noPrincipal],
  [`DELETE ${P}/robot/roles/operator`, undefined, [200, { status: 'success', role: 'operator' }]],
  [`DELETE ${P}/robot/roles/operator`, undefined, [200, { status: 'success', role: 'operator' }]],
  [`DELETE ${P}/absent/roles/operator`, undefined, noPrincipal],
  [`GET ${P}/robot`, undefined, [200, expect.objectContaining({ roles: ['viewer'] })]],
]

const KEY = { key: expect.stringMatching(/^wk_[0-9a-f]{16}\.[A-Za-z0-9_-]{43}$/) }
const shown = {
  ...{ name: 'ci', prefix: expect.stringMatching(/^wk_[0-9a-f]{16}$/) },
  ...{ expires_at: null, created_at: TIME, last_used_at: null },
}
const done = (message: string): Expected => [200, { status: 'success', message }]

export const keyCases: ContractCase[] = [
  [`POST ${P}/robot/keys`, { name: 'ci' }, [201, KEY]],
  [`POST ${P}/robot/keys`, { name: 'ci' }, refusal(400, "API key 'ci' already exists for this principal")],
  [`POST ${P}/robot/keys`, { name: 'monthly', expires_in_days: 30 }, [201, KEY]],
  [`POST ${P}/robot/keys${AT_IDP}`, { name: 'ci' }, refusal(400, 'API keys can only be created for service accounts')],
  [`POST ${P}/absent/keys`, { name: 'ci' }, noPrincipal],
  [`POST ${P}/robot/keys`, {}, 422],
  [`GET ${P}/robot/keys`, undefined, [200, [shown, { ...shown, name: 'monthly', expires_at: TIME }]]],
  [`GET ${P}/robot/keys${AT_IDP}`, undefined, [200, []]],
  [`GET ${P}/absent/keys`, undefined, noPrincipal],
  [`DELETE ${P}/robot/keys/monthly`, undefined, done("Key 'monthly' revoked")],
  [`DELETE ${P}/robot/keys/monthly`, undefined, refusal(400, "API key 'monthly' not found")],
  [`DELETE ${P}/absent/keys/ci`, undefined, noPrincipal],
  [`DELETE ${P}/robot`, undefined, 409],
  [`DELETE ${P}/robot?force=false`, undefined, 409],
  [`GET ${P}/robot/keys`, undefined, [200, [shown]]],
  [`DELETE ${P}/robot?force=true`, undefined, done("Principal 'robot' deleted")],
  [`DELETE ${P}/robot?force=true`, undefined, refusal(404, "Principal 'robot' not found")],
  [`DELETE ${P}/robot${AT_IDP}`, undefined, done("Principal 'robot' deleted")],
]

const role = (name: string, permissions: string[], built_in = false): Expected => [200, { name, permissions, built_in }]

export const roleCases: ContractCase[] = [
  [`GET ${R}/admin`, undefined, role('admin', ['*'], true)],
  [`GET ${R}/worker`, undefined, role('worker', ['worker:*:*'], true)],
  [`GET ${R}/absent`, undefined, refusal(404, "Role 'absent' not found")],
  [`POST ${R}`, { name: 'team', permissions: ['workflow:team:*'] }, role('team', ['workflow:team:*'])],
  [`POST ${R}`, { name: 'team', permissions: [] }, refusal(409, "Role 'team' already exists")],
  [`POST ${R}`, { name: 'viewer', permissions: [] }, 409],
  [`POST ${R}`, { name: 'bad', permissions: ['a b'] }, refusal(400, "Invalid permission format: 'a b'")],
  [`GET ${R}`, undefined, [200, expect.arrayContaining([{ name: 'team', permissions: ['workflow:team:*'], built_in: false }])]],
  [`PATCH ${R}/team`, { add_permissions: ['schedule:*:read'] }, role('team', ['workflow:team:*', 'schedule:*:read'])],
  [`PATCH ${R}/team`, { remove_permissions: ['workflow:team:*', 'not:held'] }, role('team', ['schedule:*:read'])],
  [`PATCH ${R}/team`, {}, role('team', ['schedule:*:read'])],
  [`PATCH ${R}/team`, { add_permissions: [':'] }, 400],
  [`PATCH ${R}/absent`, { add_permissions: [] }, 400],
  ...['admin', 'operator', 'viewer', 'worker'].flatMap((name): ContractCase[] => [
    [`PATCH ${R}/${name}`, { add_permissions: ['a:b'] }, 400],
    [`DELETE ${R}/${name}`, undefined, 400],
  ]),
  [`POST ${R}/team/clone`, { new_name: 'crew' }, role('crew', ['schedule:*:read'])],
  [`POST ${R}/team/clone`, { new_name: 'crew' }, refusal(409, "Role 'crew' already exists")],
  [`POST ${R}/admin/clone`, { new_name: 'chief' }, role('chief', ['*'])],
  [`POST ${R}/absent/clone`, { new_name: 'x' }, 400],
  [`DELETE ${R}/chief`, undefined, done("Role 'chief' deleted")],
  [`DELETE ${R}/chief`, undefined, 400],
  [`GET ${R}/chief`, undefined, 404],
]

export const secretCases: ContractCase[] = [
  [`GET ${S}`, undefined, [200, []]],
  [`POST ${S}`, { name: 'a b', value: { n: [1, null] } }, done("Secret 'a b' saved successfully")],
  [`POST ${S}`, { name: 'plain', value: 'x' }, done("Secret 'plain' saved successfully")],
  [`POST ${S}`, { name: 'plain', value: 'y' }, done("Secret 'plain' saved successfully")],
  [`POST ${S}`, { name: 'plain', value: null }, 422],
  [`GET ${S}`, undefined, [200, ['a b', 'plain']]],
  [`GET ${S}/a%20b`, undefined, [200, { name: 'a b', value: { n: [1, null] } }]],
  [`GET ${S}/plain`, undefined, [200, { name: 'plain', value: 'y' }]],
  [`GET ${S}/absent`, undefined, refusal(404, 'Secret not found: absent')],
  [`POST ${S}/batch`, ['plain', 'a b'], [200, { plain: 'y', 'a b': { n: [1, null] } }]],
  [`POST ${S}/batch`, [], [200, {}]],
  [`POST ${S}/batch`, ['plain', 'absent'], refusal(404, "The following secrets were not found: ['absent']")],
  [`POST ${S}/batch`, { names: [] }, 422],
  [`DELETE ${S}/plain`, undefined, done("Secret 'plain' deleted successfully")],
  [`DELETE ${S}/plain`, undefined, done("Secret 'plain' deleted successfully")],
  ['GET /secrets', undefined, refusal(404, 'Not Found')],
]

export const introspectionCases: ContractCase[] = [
  ['GET /auth/permissions?workflow=team/job', undefined, [200, ['workflow:team:job:read', 'workflow:team:job:run', 'payroll:run', 'admin:secrets:read']]],
  ['GET /auth/permissions?workflow=job', undefined, [200, ['workflow:default:job:read', 'workflow:default:job:run']]],
  [
    'GET /auth/permissions',
    undefined,
    [
      200,
      {
        'team/job': ['workflow:team:job:read', 'workflow:team:job:run', 'payroll:run', 'admin:secrets:read'],
        'default/job': ['workflow:default:job:read', 'workflow:default:job:run'],
      },
    ],
  ],
  ['GET /auth/permissions?workflow=absent', undefined, 404],
  ['GET /auth/permissions?workflow=a/b/c', undefined, 422],
  ['GET /auth/permissions?workflow=', undefined, 422],
]

/** The permission that each route of the contract requires; a caller without it gets its name in the 403. */
export const requiredPermissions: [what: string, permission: string, body?: unknown][] = [
  [`GET ${P}`, 'admin:principals:read'],
  [`POST ${P}`, 'admin:principals:manage', wanted],
  [`GET ${P}/x`, 'admin:principals:read'],
  [`PATCH ${P}/x`, 'admin:principals:manage', {}],
  [`DELETE ${P}/x`, 'admin:principals:manage'],
  [`POST ${P}/x/enable`, 'admin:principals:manage'],
  [`POST ${P}/x/disable`, 'admin:principals:manage'],
  [`POST ${P}/x/roles`, 'admin:principals:manage', { role: 'viewer' }],
  [`DELETE ${P}/x/roles/viewer`, 'admin:principals:manage'],
  [`POST ${P}/x/keys`, 'admin:principals:manage', { name: 'k' }],
  [`GET ${P}/x/keys`, 'admin:principals:read'],
  [`DELETE ${P}/x/keys/k`, 'admin:principals:manage'],
  [`GET ${R}`, 'admin:roles:read'],
  [`GET ${R}/x`, 'admin:roles:read'],
  [`POST ${R}`, 'admin:roles:manage', { name: 'x' }],
  [`PATCH ${R}/x`, 'admin:roles:manage', {}],
  [`DELETE ${R}/x`, 'admin:roles:manage'],
  [`POST ${R}/x/clone`, 'admin:roles:manage', { new_name: 'y' }],
  [`GET ${S}`, 'admin:secrets:read'],
  [`POST ${S}`, 'admin:secrets:manage', { name: 'x', value: 1 }],
  [`GET ${S}/x`, 'admin:secrets:read'],
  [`DELETE ${S}/x`, 'admin:secrets:manage'],
  [`POST ${S}/batch`, 'admin:secrets:read', []],
  ['POST /auth/test-token', 'admin:*', { token: 'x' }],
]
export const refusals = { anonymous: b1, noPermission: b5 }
