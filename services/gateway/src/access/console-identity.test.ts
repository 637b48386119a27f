import { notFound } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { ConsoleIdentities } from './console-identity.ts'

const identitiesOf = (secret: string) =>
  new ConsoleIdentities({
    security: { execution_token_secret: secret },
    console: { session_max_age: 60 },
  } as ConstructorParameters<typeof ConsoleIdentities>[0])

const OWNER = { subject: 'ann', issuer: 'https://issuer.example' }
const unknown = async () => {
  throw notFound('Principal', 'ann')
}

test('the credential of a session: is that of its principal, and of this installation alone', async () => {
  const own = identitiesOf('a secret of the tests alone')
  const credential = own.issue(OWNER)
  const asked: unknown[] = []
  const account = async (subject: string, issuer: string) => {
    asked.push([subject, issuer])
    const principal = {
      ...{ id: '', subject, external_issuer: issuer, type: 'user', enabled: true, roles: [] },
      display_name: undefined,
    }
    return { principal, permissions: ['a:b'] }
  }
  const permissions = { kind: 'only', granted: ['a:b'] }
  expect(await own.authenticate(credential, account)).toMatchObject({ ...OWNER, permissions })
  expect(asked).toEqual([['ann', 'https://issuer.example']])
  const forged = identitiesOf('another secret').issue(OWNER)
  for (const text of [forged, `${credential}x`, credential.slice(0, -2), 'console-identity:'])
    await expect(own.authenticate(text, account)).rejects.toMatchObject({ kind: 'unauthenticated' })
})

test('the credential of a principal that is gone: refused', async () => {
  const own = identitiesOf('a secret of the tests alone')
  const credential = own.issue(OWNER)
  await expect(own.authenticate(credential, unknown)).rejects.toMatchObject({
    kind: 'unauthenticated',
  })
})
