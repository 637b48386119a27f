import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

const AT = new Date('2026-01-02T03:04:05.678Z')

async function setup() {
  const stored = new Map<
    string,
    { name: string; screen: string; query: string; updated_at: Date }
  >()
  const gateway = await startGateway({
    views: {
      list: async () => ({ views: [...stored.values()] }),
      async put(view) {
        const saved = { ...view, updated_at: AT }
        stored.set(view.name, saved)
        return { view: saved }
      },
      delete: async ({ name }) => ({ was_there: stored.delete(name) }),
    },
  })
  return { ...gateway, stored }
}

test('saved views: stored under their name, listed, replaced and deleted', async () => {
  const { json, call } = await setup()
  const saved = {
    name: 'late ones',
    screen: 'executions',
    query: 'state=failed',
    updated_at: AT.toISOString(),
  }
  const path = `/me/views/${encodeURIComponent(saved.name)}`
  const { screen, query } = saved
  expect(await (await json('PUT', path, { screen, query })).json()).toEqual(saved)
  expect(await (await call('GET', '/me/views')).json()).toEqual({ views: [saved] })
  expect((await json('PUT', path, { screen })).status).toBe(200)
  expect(await (await call('GET', '/me/views')).json()).toMatchObject({ views: [{ query: '' }] })
  expect((await call('DELETE', path)).status).toBe(200)
  expect((await call('DELETE', path)).status).toBe(404)
})

test.each([
  ['no screen', {}],
  ['an empty screen', { screen: '' }],
  ['a long screen', { screen: 'x'.repeat(65) }],
  ['a long query', { screen: 'x', query: 'x'.repeat(4_097) }],
  ['another member', { screen: 'x', owner: 'bob' }],
  ['a control character', { screen: 'a\u0000b' }],
])('a view with %s: 422, and nothing is stored', async (_, body) => {
  const { json, stored } = await setup()
  expect((await json('PUT', '/me/views/v', body)).status).toBe(422)
  expect(stored.size).toBe(0)
})

test('an identity of an earlier release: 503', async () => {
  const { call } = await startGateway()
  expect((await call('GET', '/me/views')).status).toBe(503)
})
