import type { Defer } from '@windlass/testkit/defer'
import { expect, vi } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { type ClaimedExecution, idleWorker } from './idle-worker.ts'

type IdleWorker = Awaited<ReturnType<typeof idleWorker>>

/** Two workers with claimed work, an evicted one, and executions in every state that a worker can meet. */
export interface WorkerFixture extends AuthSystem {
  a: IdleWorker
  b: IdleWorker
  /** Evicted while it had claimed `lost`. */
  evicted: IdleWorker
  /** Claimed by `a`, of the version that declares only the secret `one`. */
  mine: ClaimedExecution
  /** Claimed by `b`. */
  theirs: ClaimedExecution
  /** Leased to `b`, which has not claimed it. */
  sent: string
  /** Queued; no worker matches. */
  queued: string
  /** Completed by `a`. */
  ended: ClaimedExecution
  /** Cancelled before any lease. */
  cancelled: string
  /** Released and claimed again by `a`; the generation is that of the first claim. */
  released: ClaimedExecution
  lost: ClaimedExecution
  /** Starts an execution that `a` claims. */
  fresh(): Promise<ClaimedExecution>
}

/** Timeouts long enough that nothing is requeued during the tests. */
const NO_REQUEUE = {
  SVC_EXECUTIONS__CLAIM_TIMEOUT: '3600',
  SVC_EXECUTIONS__CANCEL_TIMEOUT: '3600',
  SVC_WORKERS__HEARTBEAT_TIMEOUT: '4',
  SVC_WORKERS__EVICTION_GRACE_PERIOD: '1',
}
const HANG_MS = 60_000

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
  const auth = await startAuthSystem(defer, {
    singleProcess: false,
    replicas: { gateway: 2 },
    env: NO_REQUEUE,
  })
  const pinned = (pool: string, more = '') =>
    workflowSource('w', pool, `, affinity={"pool": "${pool}"}${more}`)
  for (const name of ['one', 'two'])
    await auth.requestOk('POST /admin/secrets', { body: { name, value: name } })
  for (const source of [
    pinned('a', ', secret_requests=["one"]'),
    ...['b', 'c', 'unmatched'].map((pool) => pinned(pool)),
  ])
    expect((await auth.upload(source)).status).toBe(200)

  const worker = async (name: string) => {
    const one = await idleWorker(auth, name, { pool: name })
    defer(() => one.disconnect())
    return one
  }
  const [a, b, evicted] = [await worker('a'), await worker('b'), await worker('c')]
  const run = async (workflow: string) =>
    (await auth.requestOk(`POST /workflows/w/${workflow}/run/async`, { body: null }))
      .execution_id ?? ''
  const held = async (one: IdleWorker) => one.claim(await run(one.name))

  const lost = await held(evicted)
  evicted.disconnect()
  const cancelled = await run('unmatched')
  await auth.requestOk(`GET /workflows/w/unmatched/cancel/${cancelled}`)
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
  await a.claim(released.execution_id)
  const sent = await run('b')
  await b.waitForFrame(sent)
  const mine = await held(a)
  expect((await auth.upload(pinned('a', ', secret_requests=["one", "two"]'))).status).toBe(200)
  await vi.waitFor(async () => {
    const { current_worker } = await auth.requestOk(`GET /executions/${lost.execution_id}`)
    expect(current_worker).toBe('')
  }, HANG_MS)
  return {
    ...auth,
    ...{ a, b, evicted, mine, theirs: await held(b), sent, queued: await run('unmatched') },
    ...{ ended, cancelled, released, lost, fresh: () => held(a) },
  }
}
