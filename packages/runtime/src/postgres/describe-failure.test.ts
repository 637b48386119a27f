import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { openDb } from './db.ts'
import { describeFailure } from './describe-failure.ts'
import { sql } from './sql.ts'

test('no server at the address: the message says what to do and has no credentials', async () => {
  const port = await unusedPort()
  const db = openDb(`postgres://app:canary@127.0.0.1:${port}/app`, 'public', { maxConnections: 1 })
  const error = await db.run(sql`select 1`).catch((reason: unknown) => reason)
  await db.close()
  expect(describeFailure(error)).toBe(
    `cannot connect to PostgreSQL (connect ECONNREFUSED 127.0.0.1:${port}); start it, or name another server in SVC_POSTGRES__URL`,
  )
})

test('any other failure: its own message', () => {
  expect(describeFailure(new Error('--days must be a whole number'))).toBe(
    '--days must be a whole number',
  )
})

/** Returns a port on which nothing listens. */
function unusedPort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
