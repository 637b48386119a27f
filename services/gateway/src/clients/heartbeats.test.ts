import type { PongRequest } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { expect, test } from 'vitest'
import { HeartbeatClient } from './heartbeats.ts'

const pong = (name: string): PongRequest => ({
  name,
  session_id: '',
  healthy: true,
  metrics: undefined,
})

test('pongs within the batching delay: one call, each with its own result', async () => {
  const calls: string[][] = []
  const pongs = new HeartbeatClient({
    pongs: async (request) => {
      calls.push(request.pongs.map(({ name }) => name))
      const refusals = request.pongs.flatMap(({ name }, index) =>
        name === 'w7' ? [{ index, kind: 'unauthenticated', message: 'It has ended' }] : [],
      )
      return { refusals }
    },
  })
  const names = Array.from({ length: 10 }, (_, i) => `w${i}`)
  const answers = await Promise.allSettled(names.map((name) => pongs.send(pong(name))))
  expect(calls).toEqual([names])
  for (const [i, answer] of answers.entries())
    if (i !== 7) expect(answer.status).toBe('fulfilled')
    else
      expect(answer).toMatchObject({
        status: 'rejected',
        reason: { kind: 'unauthenticated', message: 'It has ended' },
      })
})
