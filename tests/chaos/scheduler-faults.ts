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
  /** Duration of the SIGSTOP of one replica. */
  stopMs: number
  /** Disturbs the database; called twice. */
  disturbDatabase(database: string, time: number): Promise<void>
}

/**
 * Runs schedules of one second on three scheduler replicas; two of them are killed in turn and one is
 * stopped for a while. Returns the ledger of all ticks.
 */
export async function runSchedulerFaults({
  schedules,
  seconds,
  killEveryMs,
  stopMs,
  disturbDatabase,
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
      // The start fails while the database is down.
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
  const disturbing = (async () => {
    for (const time of [1, 2]) {
      await pause((seconds * 1_000) / 3 - 500)
      await disturbDatabase(system.database, time)
    }
  })()
  await Promise.all([killing, stopping, disturbing])

  const until = new Date()
  // A resume records all earlier due ticks; the last pause stops new ones.
  for (const verb of ['pause', 'resume', 'pause'])
    for (const id of names) await api.json('POST', `/schedules/${id}/${verb}`)
  const ledger = () => readLedger(system.database, made, until)
  const isSettled = (now: Ledger) => !now.faults.some((fault) => /: pending$/.test(fault))
  await expect.poll(async () => isSettled(await ledger())).toBe(true)
  return { ...(await ledger()), kills }
}
