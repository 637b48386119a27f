import { notFound } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { ConsoleIdentities } from './console-identity.ts'

const OWNER = { subject: 'ann', issuer: 'https://issuer.example' }
const SECRET = 'a secret of the tests alone'

const identitiesOf = (secret: string, oidc: object = { enabled: true, issuer: OWNER.issuer }) =>
  new ConsoleIdentities({
    security: { execution_token_secret: secret, auth: { oidc: { issuer: '' } } },
    console: { session_max_age: 60, oidc },
  } as ConstructorParameters<typeof ConsoleIdentities>[0])

const account = async (subject: string, issuer: string) => {
  const principal = {
    ...{ id: '', subject, external_issuer: issuer, type: 'user', enabled: true, roles: [] },
    display_name: undefined,
  }
  return { principal, permissions: ['a:b'] }
}
const unknown = async () => {
  throw notFound('Principal', 'ann')
}

test('the credential of a session: is that of its principal, and of this installation alone', async () => {
  const own = identitiesOf(SECRET)
  const credential = own.issue(OWNER)
  const asked: unknown[] = []
  const ask = (...principal: [subject: string, issuer: string]) => {
    asked.push(principal)
    return account(...principal)
  }
  const permissions = { kind: 'only', granted: ['a:b'] }
  expect(await own.authenticate(credential, ask)).toMatchObject({ ...OWNER, permissions })
  expect(asked).toEqual([['ann', 'https://issuer.example']])
  const forged = identitiesOf('another secret').issue(OWNER)
  for (const text of [forged, `${credential}x`, credential.slice(0, -2), 'console-identity:'])
    await expect(own.authenticate(text, account)).rejects.toMatchObject({ kind: 'unauthenticated' })
})

test.each([
  ['is turned off', { enabled: false, issuer: OWNER.issuer }],
  ['has another issuer', { enabled: true, issuer: 'https://other.example' }],
])(
  'the sign-in at the issuer %s after a session began: its credential is refused',
  async (_, oidc) => {
    const credential = identitiesOf(SECRET).issue(OWNER)
    await expect(
      identitiesOf(SECRET, oidc).authenticate(credential, account),
    ).rejects.toMatchObject({
      kind: 'unauthenticated',
    })
  },
)

test('the credential of a principal that is gone: refused', async () => {
  const own = identitiesOf(SECRET)
  const credential = own.issue(OWNER)
  await expect(own.authenticate(credential, unknown)).rejects.toMatchObject({
    kind: 'unauthenticated',
  })
})
