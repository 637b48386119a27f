import { expect } from 'vitest'
import { type AuthSystem, workflowSource } from './auth-system.ts'
import { publishOtherKeys } from './forged-tokens.ts'

/** Creates what the cases refer to: `ann` (may read roles), `bob` (disabled), and workflows. */
export async function seedCredentials(auth: AuthSystem): Promise<void> {
  publishOtherKeys(auth.idp)
  await auth.requestOk('POST /admin/roles', {
    body: { name: 'reader', permissions: ['admin:roles:read'] },
  })
  const user = { type: 'user', external_issuer: auth.idp.issuer, roles: ['reader'] }
  await auth.requestOk('POST /admin/principals', { body: { ...user, subject: 'ann' } })
  await auth.requestOk('POST /admin/principals', { body: { ...user, subject: 'bob' } })
  const issuer = encodeURIComponent(auth.idp.issuer)
  await auth.requestOk(`POST /admin/principals/bob/disable?issuer=${issuer}`)
  for (const [namespace, name, options] of [
    ['a', 'x', ''],
    ['a', 'y', ''],
    ['b', 'x', ', required_permissions=["payroll:run"]'],
    ['ab', 'x', ''],
  ] as const)
    expect((await auth.upload(workflowSource(namespace, name, options))).status).toBe(200)
}
