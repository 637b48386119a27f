import type { ListAuditRequest } from '@windlass/proto/windlass/identity/v1/audit'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

const PREFIX = 'wk_1'
const by = { subject: 'robot', issuer: 'svc', key_prefix: PREFIX, request_id: 'r-1' }

test('GET /admin/audit: pages of entries with the exact text that was hashed', async () => {
  const lists: ListAuditRequest[] = []
  const at = new Date('2026-01-02T03:04:05.678Z')
  const hash = Buffer.alloc(32, 7)
  const draft = {
    by,
    action: 'role.delete',
    object: 'role:r',
    outcome: 'done',
    detail_json: '{"a":1e400,"a": []}',
  }
  const { call } = await startGateway({
    audit: {
      async list(request) {
        lists.push(request)
        const entries = [{ seq: 9, at, draft, previous_hash: Buffer.alloc(32), hash }]
        return { entries, total: 9, head_seq: 9, head_hash: hash }
      },
    },
  })
  const query = 'actor=ann&action=role&outcome=done&since=2026-01-01T00:00:00Z&after=8&limit=5'
  const text = await (await call('GET', `/admin/audit?${query}`)).text()
  const zeros = '0'.repeat(64)
  const sevens = '07'.repeat(32)
  expect(text).toBe(
    `{"entries":[{"seq":9,"at":"2026-01-02T03:04:05.678Z","actor":{"subject":"robot","issuer":"svc","key_prefix":"${PREFIX}"}` +
      `,"request_id":"r-1","action":"role.delete","object":"role:r","outcome":"done","detail":{"a":1e400,"a": []}` +
      `,"previous_hash":"${zeros}","hash":"${sevens}"}],"total":9,"limit":5,"offset":0,"head":{"seq":9,"hash":"${sevens}"}}`,
  )
  expect(lists).toMatchObject([
    {
      actor: 'ann',
      action: 'role',
      outcome: 'done',
      since: new Date('2026-01-01'),
      after: 8,
      limit: 5,
    },
  ])
})

test('GET /admin/audit/head: number and hash of the newest entry', async () => {
  const head_hash = Buffer.alloc(32, 7)
  const { call } = await startGateway({
    audit: { list: async () => ({ entries: [], total: 0, head_seq: 9, head_hash }) },
  })
  const head = await call('GET', '/admin/audit/head')
  expect(await head.json()).toEqual({ seq: 9, hash: '07'.repeat(32) })
})

test.each([
  'limit=0',
  'limit=1001',
  'limit=x',
  'offset=-1',
  'after=-1',
  'outcome=perhaps',
  'since=yesterday',
  'until=2026-13-01T00:00:00Z',
  'actor=a&actor=b',
  'object=%00',
])('GET /admin/audit?%s: 422 naming the parameter', async (query) => {
  const { call } = await startGateway()
  const response = await call('GET', `/admin/audit?${query}`)
  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ detail: [{ loc: ['query', query.split('=')[0]] }] })
})
