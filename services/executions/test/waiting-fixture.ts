import { connect } from '@nats-io/transport-node'
import type { Offer } from '@windlass/proto/windlass/executions/v1/executions'
import { newId } from '@windlass/runtime/ids'
import { testUrl } from '@windlass/testkit/database'
import { onTestFinished } from 'vitest'
import { type Client, cancel, type create, run, setup } from './executions-fixture.ts'

/** A replica that has stored one requirement, and the wake-ups that a dispatcher receives. */
export async function waitingFixture(replicas = 1) {
  const system = await setup({ replicas })
  const { client } = system
  // Excludes wake-ups of tests that run at the same time.
  const requirement = { packages: [], affinity: { only: newId() }, runner: '' }
  const queue = (fields: Parameters<typeof create>[0] = {}) =>
    run(client, { requirement, ...fields })
  const { execution_id } = await queue()
  const { requirements } = await client.listReady({ known_ids: [] })
  const requirement_ids = requirements.map(({ requirement_id }) => requirement_id)
  await cancel(client, execution_id)
  const { hostname, port, username, password } = new URL(testUrl('TEST_NATS_URL'))
  const nats = await connect({ servers: `${hostname}:${port}`, user: username, pass: password })
  onTestFinished(() => nats.close())
  const wakeUps: string[] = []
  nats.subscribe(`ready.${requirement_ids[0]}`, {
    callback: (_, { subject }) => void wakeUps.push(subject),
  })
  await nats.flush()
  const offer = (worker_name: string, change: Partial<Offer> = {}): Offer => ({
    worker_name,
    session_id: `session of ${worker_name}`,
    connection_generation: 1,
    capacity: 0,
    requirement_ids,
    facts: {},
    used: 0,
    ...change,
  })
  return {
    ...system,
    requirement,
    queue,
    offer,
    wakeUps,
    countWakeUps: () => nats.flush().then(() => wakeUps.length),
  }
}

/** Starts a wait with these offers and returns when the service has registered it. */
export async function wait(
  client: Client,
  offers: Offer[],
  options: { answerNow?: AbortSignal } = {},
) {
  const waiting = client.awaitWork({ offers, wait_ms: 5_000 }, options)
  await client.listReady({ known_ids: [] })
  return { waiting }
}
