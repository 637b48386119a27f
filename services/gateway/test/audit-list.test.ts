import type { ListAuditRequest } from '@windlass/proto/windlass/identity/v1/audit'
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose'
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
        return { entries, total: 9, head_seq: 9, head_hash: hash, checkpoints: 2 }
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
      `,"previous_hash":"${zeros}","hash":"${sevens}"}],"total":9,"limit":5,"offset":0,"head":{"seq":9,"hash":"${sevens}"},"checkpoints":2}`,
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
    audit: {
      list: async () => ({ entries: [], total: 0, head_seq: 9, head_hash, checkpoints: 0 }),
    },
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

/** A checkpoint under the key of RFC 8037. */
const TOKEN =
  'eyJhbGciOiJFZERTQSIsInR5cCI6IndpbmRsYXNzLWF1ZGl0LWNoZWNrcG9pbnQiLCJraWQiOiJrUHJLX3FteFZXYVlWQTl3d0JGNkl1bzN2Vnp6N1R4SENUd1hCeWdyUzRrIn0.eyJzZXEiOjYsImhhc2giOiIwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3MDcwNzA3IiwiYXQiOiIyMDI2LTAxLTAyVDAzOjA0OjA1LjY3OFoiLCJlbnRyaWVzIjo2LCJyZWFzb24iOiJwcnVuZSJ9.tLteX91WPO3veFwSNTnniI09d8-D18bgPWC5gtwj4wOvcb5OXknhnT8C0yYuyYXTSthYsOmRwiCGHdJXj_0lDg'
const KEY_ID = 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'

test('GET /admin/audit/checkpoints and /keys: any implementation of JOSE can verify them', async () => {
  const created_at = new Date('2026-01-01T00:00:00Z')
  const public_key = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'
  const { call } = await startGateway({
    audit: {
      listCheckpoints: async () => ({
        checkpoints: [
          { seq: 6, reason: 'prune', key_id: KEY_ID, token: TOKEN },
          { seq: 5, reason: 'interval', key_id: KEY_ID, token: 'x' },
        ],
        total: 2,
        keys: [{ key_id: KEY_ID, public_key, created_at, confirmed: true }],
      }),
    },
  })
  const signed = { seq: 6, hash: '07'.repeat(32), at: '2026-01-02T03:04:05.678Z', entries: 6 }
  const list = await (await call('GET', '/admin/audit/checkpoints?limit=5')).json()
  expect(list).toMatchObject({
    ...{ total: 2, limit: 5, offset: 0 },
    checkpoints: [
      { ...signed, reason: 'prune', key_id: KEY_ID, token: TOKEN },
      { seq: 5, hash: null, at: null, entries: null, reason: 'interval', token: 'x' },
    ],
    keys: [{ kty: 'OKP', crv: 'Ed25519', kid: KEY_ID, x: public_key, confirmed: true }],
  })
  const keys = (await (await call('GET', '/admin/audit/keys')).json()) as JSONWebKeySet
  const { payload, protectedHeader } = await compactVerify(TOKEN, createLocalJWKSet(keys))
  expect(protectedHeader).toMatchObject({ alg: 'EdDSA', kid: KEY_ID })
  expect(JSON.parse(new TextDecoder().decode(payload))).toEqual({ ...signed, reason: 'prune' })
})
