import { expect } from 'vitest'
import { publishOthers } from './forge.ts'
import { type House, workflowSource } from './house.ts'

/** What the tables of credentials and permissions speak of: `ann`, who may read roles, `bob`, who is disabled, and workflows. */
export async function furnish(house: House): Promise<void> {
  publishOthers(house.idp)
  await house.must('POST /admin/roles', {
    body: { name: 'reader', permissions: ['admin:roles:read'] },
  })
  const person = { type: 'user', external_issuer: house.idp.issuer, roles: ['reader'] }
  await house.must('POST /admin/principals', { body: { ...person, subject: 'ann' } })
  await house.must('POST /admin/principals', { body: { ...person, subject: 'bob' } })
  const issuer = encodeURIComponent(house.idp.issuer)
  await house.must(`POST /admin/principals/bob/disable?issuer=${issuer}`)
  for (const [namespace, name, options] of [
    ['a', 'x', ''],
    ['a', 'y', ''],
    ['b', 'x', ', required_permissions=["payroll:run"]'],
    ['ab', 'x', ''],
  ] as const)
    expect((await house.upload(workflowSource(namespace, name, options))).status).toBe(200)
}
