import { encodeSecret } from '@windlass/domain/token-checksum'
import { Fault } from '@windlass/runtime/faults'
import { expect, test, vi } from 'vitest'
import { createApiKeyAuthenticator } from '../access/api-key.ts'
import { createCaches } from './create-caches.ts'

const genuine = (prefix: string) => `${prefix}.${encodeSecret(prefix, Buffer.alloc(28, 7))}`
const madeUp = (token: string) =>
  `${token.slice(0, 25)}${token[25] === 'x' ? 'y' : 'x'}${token.slice(26)}`

function setup(checkSession: () => Promise<unknown>) {
  const readAuth = async () => 'a'
  const clients = { identity: { checkSession }, catalog: {}, principals: {} }
  const deps = { ...clients, readAuth, readCatalog: readAuth } as never
  return createCaches({ session_idle_timeout: 60 } as never, deps)
}

test('a made-up session token: refused without asking identity, however often', async () => {
  const checkSession = vi.fn(async () => ({ worker_name: 'w1' }))
  const { getSession } = setup(checkSession)
  const token = madeUp(genuine('ws_0123456789abcdef'))
  for (let i = 0; i < 3; i++) await expect(getSession(token)).rejects.toThrow('Invalid or expired')
  expect(checkSession).not.toHaveBeenCalled()
})

test('a session token that identity refused: refused without asking again', async () => {
  const checkSession = vi.fn(async () => {
    throw new Fault('unauthenticated', 'Invalid or expired token')
  })
  const { getSession } = setup(checkSession)
  for (let i = 0; i < 3; i++)
    await expect(getSession(genuine('ws_0123456789abcdef'))).rejects.toThrow('Invalid or expired')
  expect(checkSession).toHaveBeenCalledTimes(1)
})

test('a valid session token: looked up once, and another token with the same start never', async () => {
  const checkSession = vi.fn(async () => ({ worker_name: 'w1' }))
  const { getSession } = setup(checkSession)
  const token = genuine('ws_0123456789abcdef')
  for (let i = 0; i < 3; i++) expect(await getSession(token)).toEqual({ worker_name: 'w1' })
  await expect(getSession(madeUp(token))).rejects.toThrow('Invalid or expired')
  expect(checkSession).toHaveBeenCalledTimes(1)
})

test('a made-up API key: refused without asking identity, even after the genuine one', async () => {
  const principal = { subject: 'bot', type: 'service_account', enabled: true, roles: [] }
  const find = vi.fn(async () => ({ account: { principal, permissions: [] } }))
  const authenticate = createApiKeyAuthenticator({ find } as never, async () => 'a')
  const key = genuine('wk_0123456789abcdef')
  expect((await authenticate(key, '127.0.0.1')).subject).toBe('bot')
  expect((await authenticate(key, '127.0.0.1')).subject).toBe('bot')
  await expect(authenticate(madeUp(key), '127.0.0.1')).rejects.toThrow('Invalid or expired')
  expect(find).toHaveBeenCalledTimes(1)
})
