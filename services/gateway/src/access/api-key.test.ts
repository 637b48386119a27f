import { onlyPermissions } from '@windlass/domain/permissions'
import type { KeyHolder } from '@windlass/proto/windlass/identity/v1/principals'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { createApiKeyAuthenticator } from './api-key.ts'

const KEY = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`

const holder = (): KeyHolder => ({
  account: {
    principal: {
      id: '1',
      subject: 'robot',
      type: 'service_account',
      external_issuer: 'svc',
      display_name: undefined,
      enabled: true,
      roles: ['viewer'],
    },
    permissions: ['a:b'],
  },
  expires_at: new Date(1_000),
})

function setup(given = holder()) {
  const state = {
    held: given as KeyHolder | undefined,
    generation: 'a' as string | undefined,
    fault: undefined as Fault | undefined,
    now: 0,
    asked: 0,
  }
  const keys = {
    async find() {
      state.asked++
      if (state.fault) throw state.fault
      if (!state.held) throw new Fault('unauthenticated', 'Invalid or expired token')
      return state.held
    },
  }
  const callerOf = createApiKeyAuthenticator(
    keys,
    async () => state.generation,
    () => state.now,
  )
  return { state, callerOf: (key: string, address = '10.0.0.1') => callerOf(key, address) }
}

const refused = { kind: 'unauthenticated' }

test('a key in use: fetched once per generation', async () => {
  const { state, callerOf } = setup()
  const caller = {
    subject: 'robot',
    issuer: 'svc',
    roles: ['viewer'],
    permissions: onlyPermissions(['a:b']),
  }
  const known = [await callerOf(KEY), await callerOf(KEY)]
  expect(known).toMatchObject([caller, caller])
  expect(state.asked).toBe(1)
  state.generation = 'b'
  state.held = undefined
  await expect(callerOf(KEY)).rejects.toMatchObject(refused)
})

test('a key in use: its use is reported once a minute', async () => {
  const { state, callerOf } = setup({ ...holder(), expires_at: undefined })
  for (let s = 0; s <= 180; s++) {
    state.now = s * 1_000
    await callerOf(KEY)
  }
  expect(state.asked).toBe(4)
})

test('generation unreadable: the key is fetched at each request', async () => {
  const { state, callerOf } = setup()
  state.generation = undefined
  await callerOf(KEY)
  state.held = undefined
  await expect(callerOf(KEY)).rejects.toMatchObject(refused)
})

test('a cached key: still refused once it has expired', async () => {
  const { state, callerOf } = setup()
  state.now = 999
  await callerOf(KEY)
  state.now = 1_000
  await expect(callerOf(KEY)).rejects.toMatchObject(refused)
})

test('a key of a disabled account or of a user: refused', async () => {
  for (const change of [{ enabled: false }, { type: 'user' }]) {
    const held = holder()
    Object.assign(held.account?.principal ?? {}, change)
    await expect(setup(held).callerOf(KEY)).rejects.toMatchObject(refused)
  }
})

test.each([
  '',
  'x',
  'ws_0.x',
  `${KEY}A`,
  KEY.slice(0, -1),
  KEY.toUpperCase(),
  ` ${KEY}`,
  `${KEY}\n`,
])('malformed key %j: refused without a call to identity', async (token) => {
  const { state, callerOf } = setup()
  await expect(callerOf(token)).rejects.toMatchObject(refused)
  expect(state.asked).toBe(0)
})

test('an unknown key: looked up once in five seconds', async () => {
  const { state, callerOf } = setup()
  state.held = undefined
  for (let i = 0; i < 3; i++) await expect(callerOf(KEY)).rejects.toMatchObject(refused)
  expect(state.asked).toBe(1)
  state.now = 5_001
  await expect(callerOf(KEY)).rejects.toMatchObject(refused)
  expect(state.asked).toBe(2)
})

test('a key whose checksum does not match: refused without a lookup', async () => {
  const { state, callerOf } = setup()
  await expect(callerOf(`wk_${'0'.repeat(16)}.${'A'.repeat(42)}B`)).rejects.toMatchObject(refused)
  expect(state.asked).toBe(0)
})

test('identity is unavailable: the key is looked up again', async () => {
  const { state, callerOf } = setup()
  const away = new Fault('unavailable', 'away')
  state.fault = away
  await expect(callerOf(KEY)).rejects.toBe(away)
  state.fault = undefined
  expect(await callerOf(KEY)).toMatchObject({ subject: 'robot' })
})

test('a key with networks: accepted from their addresses only, and the requests say so', async () => {
  const limits = { permissions: [], networks: ['10.0.0.0/8', '2001:db8::/32'] }
  const { state, callerOf } = setup({ ...holder(), limits })
  for (const address of ['10.9.9.9', '::ffff:10.0.0.1', '2001:db8::1'])
    expect(await callerOf(KEY, address)).toMatchObject({ subject: 'robot' })
  for (const address of ['11.0.0.1', '::1', ''])
    await expect(callerOf(KEY, address)).rejects.toMatchObject(refused)
  expect(await callerOf(KEY, '10.9.9.9')).toMatchObject({ subject: 'robot' })
  expect(state.asked).toBe(1)
})
