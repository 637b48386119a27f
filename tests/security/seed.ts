import { expect } from 'vitest'
import { type AuthSystem, workflowSource } from './auth-system.ts'
import { publishOtherKeys } from './forged-tokens.ts'

/** What the tables of credentials and permissions speak of: `ann`, who may read roles, `bob`, who is disabled, and workflows. */
export async function seedCredentials(auth: AuthSystem): Promise<void> {
  publishOtherKeys(auth.idp)
  await auth.must('POST /admin/roles', {
    body: { name: 'reader', permissions: ['admin:roles:read'] },
  })
  const person = { type: 'user', external_issuer: auth.idp.issuer, roles: ['reader'] }
  await auth.must('POST /admin/principals', { body: { ...person, subject: 'ann' } })
  await auth.must('POST /admin/principals', { body: { ...person, subject: 'bob' } })
  const issuer = encodeURIComponent(auth.idp.issuer)
  await auth.must(`POST /admin/principals/bob/disable?issuer=${issuer}`)
  for (const [namespace, name, options] of [
    ['a', 'x', ''],
    ['a', 'y', ''],
    ['b', 'x', ', required_permissions=["payroll:run"]'],
    ['ab', 'x', ''],
  ] as const)
    expect((await auth.upload(workflowSource(namespace, name, options))).status).toBe(200)
}
