import type { Defer } from '@windlass/testkit/defer'
import { expect, vi } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { type ClaimedExecution, idleWorker } from './idle-worker.ts'

type IdleWorker = Awaited<ReturnType<typeof idleWorker>>

/** Two workers with work of their own, one that was lost, and executions in every condition that a worker may meet. */
export interface WorkerFixture extends AuthSystem {
  a: IdleWorker
  b: IdleWorker
  /** Evicted while it held `lost`. */
  gone: IdleWorker
  /** Held by `a`, of the version that declares the secret `one` alone. */
  mine: ClaimedExecution
  /** Held by `b`. */
  theirs: ClaimedExecution
  /** Sent to `b`, who has not claimed it. */
  sent: string
  /** Fits no worker. */
  queued: string
  /** Completed by `a`. */
  ended: ClaimedExecution
  /** Cancelled before anybody had it. */
  cancelled: string
  /** Released by `a`, who holds it again; the generation is the earlier one. */
  released: ClaimedExecution
  lost: ClaimedExecution
  /** A new one that `a` holds. */
  fresh(): Promise<ClaimedExecution>
}

/** Nothing may be requeued under the hands of the tests. */
const NO_REQUEUE = {
  SVC_EXECUTIONS__CLAIM_TIMEOUT: '3600',
  SVC_EXECUTIONS__CANCEL_TIMEOUT: '3600',
  SVC_WORKERS__HEARTBEAT_TIMEOUT: '4',
  SVC_WORKERS__EVICTION_GRACE_PERIOD: '1',
}
const HANG_MS = 20_000

export const completedCheckpoint = ({ execution_id }: ClaimedExecution, output: unknown = 1) => ({
  ...{ workflow_id: 'x', workflow_namespace: 'w', workflow_name: 'a', execution_id },
  ...{ state: 'COMPLETED', output, current_worker: 'a' },
  events: [
    {
      ...{ type: 'WORKFLOW_COMPLETED', id: 'end', source_id: 's', name: 'a' },
      ...{ time: '2026-01-01T00:00:00', value: output },
    },
  ],
})

export const claimHeaders = (generation: string) => ({ 'x-svc-claim-generation': generation })

export async function workerFixture(defer: Defer): Promise<WorkerFixture> {
  const auth = await startAuthSystem(defer, { replicas: { gateway: 2 }, env: NO_REQUEUE })
  const pinned = (pool: string, more = '') =>
    workflowSource('w', pool, `, affinity={"pool": "${pool}"}${more}`)
  for (const name of ['one', 'two'])
    await auth.must('POST /admin/secrets', { body: { name, value: name } })
  for (const source of [
    pinned('a', ', secret_requests=["one"]'),
    ...['b', 'c', 'nobody'].map((pool) => pinned(pool)),
  ])
    expect((await auth.upload(source)).status).toBe(200)

  const worker = async (name: string) => {
    const one = await idleWorker(auth, name, { pool: name })
    defer(() => one.leave())
    return one
  }
  const [a, b, gone] = [await worker('a'), await worker('b'), await worker('c')]
  const run = async (workflow: string) =>
    (await auth.must(`POST /workflows/w/${workflow}/run/async`, { body: null })).execution_id ?? ''
  const held = async (one: IdleWorker) => one.hold(await run(one.name))

  const lost = await held(gone)
  gone.leave()
  const cancelled = await run('nobody')
  await auth.must(`GET /workflows/w/nobody/cancel/${cancelled}`)
  const ended = await held(a)
  const done = await a.call(
    `checkpoint/${ended.execution_id}`,
    completedCheckpoint(ended),
    claimHeaders(ended.generation),
  )
  expect(done.status, done.text).toBe(200)
  const released = await held(a)
  const back = await a.call(
    `release/${released.execution_id}`,
    undefined,
    claimHeaders(released.generation),
  )
  expect(back.status, back.text).toBe(200)
  a.forget(released.execution_id)
  await a.hold(released.execution_id)
  const sent = await run('b')
  await b.hear(sent)
  const mine = await held(a)
  expect((await auth.upload(pinned('a', ', secret_requests=["one", "two"]'))).status).toBe(200)
  await vi.waitFor(async () => {
    const { current_worker } = await auth.must(`GET /executions/${lost.execution_id}`)
    expect(current_worker).toBe('')
  }, HANG_MS)
  return {
    ...auth,
    ...{ a, b, gone, mine, theirs: await held(b), sent, queued: await run('nobody') },
    ...{ ended, cancelled, released, lost, fresh: () => held(a) },
  }
}
