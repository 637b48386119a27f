import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

test('a batch of pongs, one of them failing: each gets its own status', async () => {
  const { call } = await startGateway({
    fleet: {
      async pongs({ pongs }) {
        if (pongs.some(({ name }) => name === 'odd')) throw new Error('a bug')
        const refusals = pongs.flatMap(({ name }, index) =>
          name === 'ended' ? [{ index, kind: 'unauthenticated', message: 'It has ended' }] : [],
        )
        return { refusals }
      },
    },
  })
  const statuses = await Promise.all(
    ['a', 'b', 'ended', 'c', 'odd', 'd'].map(async (name) => {
      const { status } = await call('POST', `/workers/${name}/pong`)
      return status
    }),
  )
  expect(statuses).toEqual([200, 200, 401, 200, 500, 200])
})
