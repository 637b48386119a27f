import { setTimeout as pause } from 'node:timers/promises'
import type { Process } from '@windlass/testkit/process'
import type { ScriptedWorker } from '@windlass/testkit/scripted-worker'

const KILL_PAUSE_MS = 100
const RETRY_MS = 100
const ATTEMPTS = 200
const LANES = 8

/** Kills one process after another, each started again before the next, until the work is done; it is told how many there were. */
export async function withProcessKills<T>(
  victims: readonly Process[],
  work: (kills: () => number) => Promise<T>,
): Promise<T> {
  let isOver = false
  let kills = 0
  const nemesis = async () => {
    while (!isOver) {
      await pause(KILL_PAUSE_MS)
      await victims[kills % victims.length]?.restart('SIGKILL')
      kills++
    }
  }
  const killing = nemesis()
  try {
    return await work(() => kills)
  } finally {
    isOver = true
    await killing
  }
}

/** Asks until there is an answer other than "not now"; a broken call counts as that. */
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

/** Waits for frames, of one execution if it is given, until one can be claimed: leases run out while services are away. */
export async function waitForClaimableFrame(worker: ScriptedWorker, event: string, id?: string) {
  for (;;) {
    const frame = await worker.nextFrame(event, id)
    const { status, headers } = await retryUntilAnswered(() => worker.claim(frame.execution_id))
    if (status === 200) return { ...frame, generation: Number(headers['x-svc-claim-generation']) }
  }
}

/** Claims and completes, with its own id as the output; false where another claim was faster. */
async function perform(worker: ScriptedWorker, id: string): Promise<void> {
  const claim = await retryUntilAnswered(() => worker.claim(id))
  if (claim.status !== 200) return
  const generation = Number(claim.headers['x-svc-claim-generation'])
  await retryUntilAnswered(() => worker.complete(id, generation, `"${id}"`))
}

/** A worker that does whatever comes and connects again whenever it has to. Answers what ends it. */
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
  const lane = async () => {
    while (!isOver) {
      await connected()
      const frame = await worker
        .nextFrame('execution_scheduled', undefined, 100)
        .catch(() => undefined)
      if (frame) await perform(worker, frame.execution_id)
    }
  }
  const lanes = Promise.all(Array.from({ length: LANES }, lane))
  return async () => {
    isOver = true
    await lanes
  }
}
