import { workerRecord } from '@windlass/testkit/worker-record'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

const WORKER = workerRecord('w1', { labels: {}, packages: [], capacity: 1 })

test.each<[string, string, lookUps: number]>([
  [
    'a made-up worker token with a checksum that is wrong',
    `wt_${'0'.repeat(16)}.${'A'.repeat(42)}B`,
    0,
  ],
  ['an unknown worker token without a checksum', `wt_${'0'.repeat(16)}.${'A'.repeat(43)}`, 1],
  ['an unknown bootstrap token', 'not-the-token', 1],
  // Looks like the secret of a token with a checksum, and is a text that an operator chose.
  ['an unknown bootstrap token with a point', 'a.token.of.an.operator.B', 1],
])('%s, sent three times: looked up at most once', async (_, token, lookUps) => {
  const asked: string[] = []
  const { json } = await startGateway(
    {
      identity: {
        async checkBootstrap(request) {
          asked.push(request.token)
          return { configured: true, valid: false }
        },
      },
    },
    { SVC_WORKERS__REGISTER_RATE_LIMIT: '' },
  )
  const headers = { authorization: `Bearer ${token}` }
  for (let i = 0; i < 3; i++) {
    const response = await json('POST', '/workers/register', WORKER, headers)
    expect([response.status, await response.json()]).toEqual([
      403,
      { detail: 'Invalid bootstrap token.' },
    ])
  }
  expect(asked).toHaveLength(lookUps)
})
