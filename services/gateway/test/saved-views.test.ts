import { preconditionFailed } from '@windlass/domain/revision'
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
    revision: null,
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

/** A store of one view that answers preconditions. */
async function conditional() {
  const requests: unknown[] = []
  const gateway = await startGateway({
    views: {
      async putIf(request) {
        requests.push(request)
        const { view, precondition } = request
        if (!view || !precondition?.revisions.includes('r1'))
          throw preconditionFailed('view', precondition ?? NEVER)
        return { view: { ...view, updated_at: AT, revision: 'r2' } }
      },
    },
  })
  const save = (headers: Record<string, string>) =>
    gateway.json('PUT', '/me/views/v', { screen: 'executions' }, headers)
  return { save, requests }
}

const NEVER = { revisions: [], any: false, absent: false }

test('a view with If-Match: its precondition is passed on, and the answer has the revision', async () => {
  const { save, requests } = await conditional()
  const saved = await save({ 'if-match': '"r0", W/"r1"' })
  expect([saved.status, saved.headers.get('etag')]).toEqual([200, '"r2"'])
  expect(await saved.json()).toMatchObject({ revision: 'r2' })
  await save({ 'if-match': ' * ' })
  await save({ 'if-none-match': '*' })
  expect(requests).toMatchObject([
    { precondition: { ...NEVER, revisions: ['r0', 'r1'] }, view: { name: 'v' } },
    { precondition: { ...NEVER, any: true } },
    { precondition: { ...NEVER, absent: true } },
  ])
})

test.each([
  ['If-Match', { 'if-match': '"r0"' }],
  ['If-None-Match', { 'if-none-match': '*' }],
])('a view whose %s does not hold: 412 names the header', async (name, headers) => {
  const { save } = await conditional()
  const refused = await save(headers)
  expect(refused.status).toBe(412)
  expect(await refused.json()).toMatchObject({
    detail: [{ loc: ['header', name], type: 'precondition_failed' }],
  })
})

test.each([
  [{ 'if-match': 'r1' }, 'If-Match'],
  [{ 'if-match': '"r1' }, 'If-Match'],
  [{ 'if-match': '' }, 'If-Match'],
  [{ 'if-none-match': '"r1"' }, 'If-None-Match'],
  [{ 'if-match': '"r1"', 'if-none-match': '*' }, 'If-None-Match'],
])('a precondition of %j: 422 names %s, and nothing is stored', async (headers, name) => {
  const { save, requests } = await conditional()
  const refused = await save(headers as Record<string, string>)
  expect(refused.status).toBe(422)
  expect(await refused.json()).toMatchObject({ detail: [{ loc: ['header', name] }] })
  expect(requests).toEqual([])
})

test('an identity of an earlier release: 503', async () => {
  const { call } = await startGateway()
  expect((await call('GET', '/me/views')).status).toBe(503)
})
