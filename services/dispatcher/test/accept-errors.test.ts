import { failToAccept } from '@windlass/testkit/accept-errors'
import { expect, test } from 'vitest'
import { startDispatchers } from './dispatcher-fixture.ts'

test('connections that cannot be accepted: the next ones are served', async () => {
  const { all } = await startDispatchers()
  const port = all[0]?.streams ?? 0
  failToAccept(port)
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(401)
})
