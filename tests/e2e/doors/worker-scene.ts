import type { Defer } from '@windlass/testkit/defer'
import { expect, vi } from 'vitest'
import { type House, openHouse, workflowSource } from './house.ts'
import { type Held, idleWorker } from './worker.ts'

type Idle = Awaited<ReturnType<typeof idleWorker>>

/** Two workers with work of their own, one that was lost, and executions in every condition that a worker may meet. */
export interface Scene extends House {
  a: Idle
  b: Idle
  /** Evicted while it held `lost`. */
  gone: Idle
  /** Held by `a`, of the version that declares the secret `one` alone. */
  mine: Held
  /** Held by `b`. */
  theirs: Held
  /** Sent to `b`, who has not claimed it. */
  sent: string
  /** Fits no worker. */
  queued: string
  /** Completed by `a`. */
  ended: Held
  /** Cancelled before anybody had it. */
  cancelled: string
  /** Released by `a`, who holds it again; the generation is the earlier one. */
  released: Held
  lost: Held
  /** A new one that `a` holds. */
  fresh(): Promise<Held>
}

/** Nothing may be requeued under the hands of the tests. */
const PATIENT = {
  SVC_EXECUTIONS__CLAIM_TIMEOUT: '3600',
  SVC_EXECUTIONS__CANCEL_TIMEOUT: '3600',
  SVC_WORKERS__HEARTBEAT_TIMEOUT: '4',
  SVC_WORKERS__EVICTION_GRACE_PERIOD: '1',
}
const HANG_MS = 20_000

export const final = ({ execution_id }: Held, output: unknown = 1) => ({
  ...{ workflow_id: 'x', workflow_namespace: 'w', workflow_name: 'a', execution_id },
  ...{ state: 'COMPLETED', output, current_worker: 'a' },
  events: [
    {
      ...{ type: 'WORKFLOW_COMPLETED', id: 'end', source_id: 's', name: 'a' },
      ...{ time: '2026-01-01T00:00:00', value: output },
    },
  ],
})

export const under = (generation: string) => ({ 'x-svc-claim-generation': generation })

export async function setTheScene(defer: Defer): Promise<Scene> {
  const house = await openHouse(defer, { replicas: { gateway: 2 }, env: PATIENT })
  const pinned = (pool: string, more = '') =>
    workflowSource('w', pool, `, affinity={"pool": "${pool}"}${more}`)
  for (const name of ['one', 'two'])
    await house.must('POST /admin/secrets', { body: { name, value: name } })
  for (const source of [
    pinned('a', ', secret_requests=["one"]'),
    ...['b', 'c', 'nobody'].map((pool) => pinned(pool)),
  ])
    expect((await house.upload(source)).status).toBe(200)

  const worker = async (name: string) => {
    const one = await idleWorker(house, name, { pool: name })
    defer(() => one.leave())
    return one
  }
  const [a, b, gone] = [await worker('a'), await worker('b'), await worker('c')]
  const run = async (workflow: string) =>
    (await house.must(`POST /workflows/w/${workflow}/run/async`, { body: null })).execution_id ?? ''
  const held = async (one: Idle) => one.hold(await run(one.name))

  const lost = await held(gone)
  gone.leave()
  const cancelled = await run('nobody')
  await house.must(`GET /workflows/w/nobody/cancel/${cancelled}`)
  const ended = await held(a)
  const done = await a.call(
    `checkpoint/${ended.execution_id}`,
    final(ended),
    under(ended.generation),
  )
  expect(done.status, done.text).toBe(200)
  const released = await held(a)
  const back = await a.call(
    `release/${released.execution_id}`,
    undefined,
    under(released.generation),
  )
  expect(back.status, back.text).toBe(200)
  a.forget(released.execution_id)
  await a.hold(released.execution_id)
  const sent = await run('b')
  await b.hear(sent)
  const mine = await held(a)
  expect((await house.upload(pinned('a', ', secret_requests=["one", "two"]'))).status).toBe(200)
  await vi.waitFor(async () => {
    const { current_worker } = await house.must(`GET /executions/${lost.execution_id}`)
    expect(current_worker).toBe('')
  }, HANG_MS)
  return {
    ...house,
    ...{ a, b, gone, mine, theirs: await held(b), sent, queued: await run('nobody') },
    ...{ ended, cancelled, released, lost, fresh: () => held(a) },
  }
}
