import { failToAccept } from '@windlass/testkit/accept-errors'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

test('connections that cannot be accepted: the gateway serves the next ones', async () => {
  const { url, call } = await startGateway()
  failToAccept(Number(new URL(url).port))
  expect((await call('GET', '/health')).status).toBe(200)
})
