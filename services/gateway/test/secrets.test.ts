import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'
import { fakeSecrets } from './secrets-fake.ts'

async function setup() {
  const secrets = fakeSecrets('Secret')
  const configs = fakeSecrets('Config')
  const made = await startGateway({ secrets: secrets.handlers, configs: configs.handlers })
  return { ...made, values: { secrets: secrets.values, configs: configs.values } }
}

const kinds = [
  { kind: 'secrets', what: 'Secret' },
  { kind: 'configs', what: 'Config' },
] as const

test.each(kinds)('$kind: a value is stored and answered byte for byte', async ({ kind, what }) => {
  const { call, values } = await setup()
  const value = '{"b": 9007199254740993,"a":[1.0,"\\u00e9"],"a":1e400}'
  const saved = await call('POST', `/admin/${kind}`, {
    body: Buffer.from(`{ "name":"odd name+1", "value": ${value} }`),
  })
  expect(await saved.json()).toEqual({
    status: 'success',
    message: `${what} 'odd name+1' saved successfully`,
  })
  expect(values[kind].get('odd name+1')).toBe(value)

  const one = await call('GET', `/admin/${kind}/${encodeURIComponent('odd name+1')}`)
  expect(await one.text()).toBe(`{"name":"odd name+1","value":${value}}`)
  const batch = await call('POST', `/admin/${kind}/batch`, { body: Buffer.from('["odd name+1"]') })
  expect(await batch.text()).toBe(`{"odd name+1":${value}}`)
  const list = await call('GET', `/admin/${kind}`)
  expect(await list.text()).toBe('["odd name+1"]')
  for (const { headers } of [one, batch]) expect(headers.get('cache-control')).toBe('no-store')
})

test.each(kinds)('$kind: a missing entry gets 404 with its name', async ({ kind, what }) => {
  const { call, json } = await setup()
  await json('POST', `/admin/${kind}`, { name: 'a', value: false })

  const one = await call('GET', `/admin/${kind}/b`)
  expect([one.status, await one.json()]).toEqual([404, { detail: `${what} not found: b` }])
  const some = await json('POST', `/admin/${kind}/batch`, ['a', 'b', 'c d'])
  expect([some.status, await some.json()]).toEqual([
    404,
    { detail: `The following ${kind} were not found: ['b', 'c d']` },
  ])
  expect(await (await json('POST', `/admin/${kind}/batch`, [])).json()).toEqual({})
})

test.each(kinds)(
  '$kind: deletion succeeds whether or not the entry exists',
  async ({ kind, what }) => {
    const { call, json, values } = await setup()
    await json('POST', `/admin/${kind}`, { name: 'batch', value: '' })
    for (const _ of [1, 2])
      expect(await (await call('DELETE', `/admin/${kind}/batch`)).json()).toEqual({
        status: 'success',
        message: `${what} 'batch' deleted successfully`,
      })
    expect(values[kind].size).toBe(0)
  },
)

test('a name in any Unicode normalization form: the same entry', async () => {
  const { call, json } = await setup()
  await json('POST', '/admin/secrets', { name: 'cafe\u0301', value: 1 })
  const one = await call('GET', `/admin/secrets/${encodeURIComponent('caf\u00e9')}`)
  expect(await one.json()).toEqual({ name: 'caf\u00e9', value: 1 })
  const batch = await json('POST', '/admin/secrets/batch', ['cafe\u0301'])
  expect(await batch.json()).toEqual({ 'cafe\u0301': 1 })
})

test('identity has no encryption key: 500 with its message', async () => {
  const refuse = async () => {
    throw new Fault('misconfigured', 'no key')
  }
  const { call, json } = await startGateway({
    secrets: { list: refuse, put: refuse, get: refuse, getMany: refuse, delete: refuse },
  })
  for (const response of [
    await call('GET', '/admin/secrets'),
    await json('POST', '/admin/secrets', { name: 'a', value: 'canary' }),
    await call('GET', '/admin/secrets/a'),
    await call('DELETE', '/admin/secrets/a'),
    await json('POST', '/admin/secrets/batch', []),
  ])
    expect([response.status, await response.json()]).toEqual([500, { detail: 'no key' }])
})

test('authentication on: a worker session reads configs, never secrets', async () => {
  const { values, handlers } = fakeSecrets('Config')
  values.set('a', '1')
  const { call } = await startGateway(
    { configs: handlers },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  const send = (method: string, path: string, token: string) =>
    call(method, path, {
      body: method === 'POST' ? Buffer.from('["a"]') : undefined,
      headers: { authorization: `Bearer ${token}` },
    })
  const batch = await send('POST', '/admin/configs/batch', 'session-of-w1')
  expect(await batch.json()).toEqual({ a: 1 })
  expect((await send('POST', '/admin/configs/batch', 'nonsense')).status).toBe(401)
  expect((await send('POST', '/admin/configs', 'session-of-w1')).status).toBe(401)
  expect((await send('POST', '/admin/secrets/batch', 'session-of-w1')).status).toBe(401)
})
