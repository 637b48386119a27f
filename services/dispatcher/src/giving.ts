import type { Hearing } from './hearing.ts'
import { awaitLoop, type Waiting } from './loops/await-work.ts'
import { type Leasing, leaseLoop } from './loops/lease.ts'
import type { Roster } from './roster.ts'

type Parts = Omit<Leasing, 'looked'> & Waiting & { roster: Roster }

export interface Giving extends Pick<Hearing, 'poke' | 'queued'> {
  stop(): Promise<void>
}

/** Both ways in which work comes to the workers here: what is queued is leased, what will be is waited for. */
export function giveWork(parts: Parts): Giving {
  const { sessions, roster } = parts
  const waiting = awaitLoop(parts)
  const leasing = leaseLoop({ ...parts, looked: () => waiting.wake() })
  const poke = () => {
    leasing.wake()
    waiting.wake()
  }
  sessions.onChange = () => waiting.revise()
  roster.onFit = poke
  return {
    poke,
    queued() {
      leasing.wake()
      waiting.revise()
    },
    stop: async () => void (await Promise.all([leasing.stop(), waiting.stop()])),
  }
}
