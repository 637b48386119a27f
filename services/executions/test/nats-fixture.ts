import { connect } from '@nats-io/transport-node'
import { testUrl } from '@windlass/testkit/database'
import { onTestFinished } from 'vitest'

/** A connection to NATS for the rest of the test. */
export async function openNats() {
  const { hostname, port, username, password } = new URL(testUrl('TEST_NATS_URL'))
  const connection = await connect({
    servers: `${hostname}:${port}`,
    user: username,
    pass: password,
  })
  onTestFinished(() => connection.close())
  return connection
}
