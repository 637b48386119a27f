import { setTimeout as pause } from 'node:timers/promises'
import { startSystem } from '@windlass/testkit/system'
import { expect } from 'vitest'
import { client } from '../e2e/api.ts'
import { type Ledger, readLedger } from './tick-ledger.ts'

const SOURCE = `
from windlass import workflow, ExecutionContext

@workflow
async def tick(ctx: ExecutionContext):
    return None
`

export interface SchedulerFaultOptions {
  schedules: number
  seconds: number
  killEveryMs: number
  /** The replica that is stopped in its tracks, and for how long. */
  stopMs: number
  /** What happens to the database, twice. */
  shake(database: string, time: number): Promise<void>
}

/**
 * Schedules of one second in three replicas of the scheduler, of which one is killed again and again
 * and another stopped for a while. Answers what became of every tick.
 */
export async function runSchedulerFaults({
  schedules,
  seconds,
  killEveryMs,
  stopMs,
  shake,
}: SchedulerFaultOptions) {
  const system = await startSystem({ workers: 0, replicas: { scheduler: 3 } })
  const api = client(system.url)
  await api.upload(SOURCE)
  const made = new Map<string, Date>()
  const names: string[] = []
  for (let i = 0; i < schedules; i++) {
    const config = { type: 'interval', interval_seconds: 1 }
    const body = { workflow_name: 'tick', name: `every second ${i}`, schedule_config: config }
    const { id, next_run_at } = await api.json('POST', '/schedules', body)
    made.set(id, new Date(next_run_at))
    names.push(id)
  }

  const [victim, stopped, other] = system.of('scheduler')
  if (!victim || !stopped || !other) throw new Error('three replicas are needed')
  const end = Date.now() + seconds * 1_000
  let kills = 0
  const killing = (async () => {
    for (let round = 0; Date.now() < end; round++) {
      await pause(killEveryMs)
      const target = round % 2 ? victim : other
      await target.end('SIGKILL')
      kills++
      // It may come up while the database is away.
      while (
        await target.start().then(
          () => false,
          () => true,
        )
      )
        await pause(200)
    }
  })()
  const stopping = (async () => {
    await pause((seconds * 1_000) / 4)
    stopped.signal('SIGSTOP')
    await pause(stopMs)
    stopped.signal('SIGCONT')
  })()
  const shaking = (async () => {
    for (const time of [1, 2]) {
      await pause((seconds * 1_000) / 3 - 500)
      await shake(system.database, time)
    }
  })()
  await Promise.all([killing, stopping, shaking])

  const until = new Date()
  // A pause and a resume: what was due before it is recorded, at the latest now.
  for (const verb of ['pause', 'resume', 'pause'])
    for (const id of names) await api.json('POST', `/schedules/${id}/${verb}`)
  const ledger = () => readLedger(system.database, made, until)
  const isSettled = (now: Ledger) => !now.faults.some((fault) => /: pending$/.test(fault))
  await expect.poll(async () => isSettled(await ledger()), { timeout: 60_000 }).toBe(true)
  return { ...(await ledger()), kills }
}
