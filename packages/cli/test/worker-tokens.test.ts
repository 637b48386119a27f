import { expect, test } from 'vitest'
import { cliFixture } from './cli-fixture.ts'

test('worker tokens: created with restrictions, listed, revoked', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('POST /admin/worker-tokens', { status: 201, body: '{"token":"wt_1"}' })
  const options = ['--days', '7', '--uses', '2', '--name-prefix', 'a-', '--namespaces', 'a,b']
  const more = ['--labels', 'pool=x,pool=y', '--max-concurrent', '4']
  const created = await windlass('worker-tokens', 'create', 'team', ...options, ...more)
  expect(created).toMatchObject({ status: 0, out: 'wt_1\n' })
  expect(JSON.parse(api.seen.at(-1)?.body ?? '')).toEqual({
    ...{ name: 'team', expires_in_days: 7, max_uses: 2 },
    restrictions: {
      ...{ name_prefix: 'a-', namespaces: ['a', 'b'], labels: { pool: ['x', 'y'] } },
      limits: { max_concurrent_executions: 4 },
    },
  })
  const token = { name: 'team', prefix: 'wt_1', expires_at: null, max_uses: 2, uses: 1 }
  const listed = JSON.stringify([{ ...token, restrictions: {} }])
  api.answers.set('GET /admin/worker-tokens', { body: listed })
  expect(await windlass('worker-tokens', 'list')).toMatchObject({
    out: 'team\twt_1\t1 of 2 uses\tnever expires\t{}\n',
  })
  api.answers.set('DELETE /admin/worker-tokens/team', { body: '{"message":"revoked"}' })
  expect(await windlass('worker-tokens', 'revoke', 'team')).toMatchObject({ out: 'revoked\n' })
  api.answers.set('DELETE /workers/w/session', { body: '{"message":"ended"}' })
  expect(await windlass('worker', 'end-session', 'w')).toMatchObject({ out: 'ended\n' })
})
