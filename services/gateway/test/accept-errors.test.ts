import { failToAccept } from '@windlass/testkit/accept-errors'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

test('accepting a connection fails: the gateway serves the next one', async () => {
  const { url, call } = await startGateway()
  failToAccept(Number(new URL(url).port))
  expect((await call('GET', '/health')).status).toBe(200)
})
