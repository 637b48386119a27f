import { setTimeout as pause } from 'node:timers/promises'
import type { HttpResponse } from '@windlass/testkit/http'
import type { Process } from '@windlass/testkit/process'
import type { ScriptedWorker } from '@windlass/testkit/scripted-worker'
import { expect } from 'vitest'

const KILL_PAUSE_MS = 100
const RETRY_MS = 100
const ATTEMPTS = 200
const CONCURRENCY = 8

/** Kills and restarts the processes in turn until `work` is done; `kills` returns the count so far. */
export async function withProcessKills<T>(
  victims: readonly Process[],
  work: (kills: () => number) => Promise<T>,
): Promise<T> {
  let isOver = false
  let kills = 0
  const killInTurn = async () => {
    while (!isOver) {
      await pause(KILL_PAUSE_MS)
      await victims[kills % victims.length]?.restart('SIGKILL')
      kills++
    }
  }
  const killing = killInTurn()
  try {
    return await work(() => kills)
  } finally {
    isOver = true
    await killing
  }
}

/** Repeats a request until its status is below 500; a broken connection counts as 503. */
export async function retryUntilAnswered<T extends { status: number }>(
  ask: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask().catch(() => undefined)
    if (answer && answer.status < 500) return answer
    if (attempt === ATTEMPTS) throw new Error(`no answer: ${answer?.status}`)
    await pause(RETRY_MS)
  }
}

/** Waits for a frame that can still be claimed, and claims it: leases expire while services are down. */
export async function waitForClaimableFrame(worker: ScriptedWorker, event: string, id?: string) {
  for (;;) {
    const frame = await worker.nextFrame(event, id)
    const { status, headers } = await retryUntilAnswered(() => worker.claim(frame.execution_id))
    if (status !== 200) continue
    const [generation, attempt] = [headers['x-svc-claim-generation'], headers['x-svc-attempt']]
    return { ...frame, generation: Number(generation), attempt: Number(attempt) }
  }
}

/**
 * Claims the next frame of an execution and writes under the claim, again until a write is accepted: on a busy machine
 * a lease or an unconfirmed claim may expire first, and another frame follows. Returns the frame with its generation.
 */
export async function writeUnderClaim(
  worker: ScriptedWorker,
  id: string,
  write: (generation: number) => Promise<HttpResponse>,
) {
  for (;;) {
    const frame = await waitForClaimableFrame(worker, 'execution_scheduled', id)
    const { status, text } = await write(frame.generation)
    if (status === 200) return frame
    expect(status, text).toBe(409)
  }
}

export const completeNextFrame = (worker: ScriptedWorker, id: string) =>
  writeUnderClaim(worker, id, (generation) => worker.complete(id, generation))

/** Claims and completes an execution with its id as the output; does nothing if the claim fails. */
async function perform(worker: ScriptedWorker, id: string): Promise<void> {
  const claim = await retryUntilAnswered(() => worker.claim(id))
  if (claim.status !== 200) return
  const generation = Number(claim.headers['x-svc-claim-generation'])
  await retryUntilAnswered(() => worker.complete(id, generation, `"${id}"`))
}

/** Lets a worker complete all work and reconnect when its stream ends. Returns a function that stops it. */
export function reconnectingWorker(worker: ScriptedWorker): () => Promise<void> {
  let isOver = false
  let connecting: Promise<unknown> | undefined
  const connected = () => {
    if (!worker.stream.ended) return undefined
    connecting ??= retryUntilAnswered(() => worker.connect()).finally(() => {
      connecting = undefined
    })
    return connecting
  }
  const loop = async () => {
    while (!isOver) {
      await connected()
      const frame = await worker
        .nextFrame('execution_scheduled', undefined, 100)
        .catch(() => undefined)
      if (frame) await perform(worker, frame.execution_id)
    }
  }
  const loops = Promise.all(Array.from({ length: CONCURRENCY }, loop))
  return async () => {
    isOver = true
    await loops
  }
}
