import { setTimeout as pause } from 'node:timers/promises'
import { call } from '@windlass/testkit/http'
import type { ExecutionFixture } from '../execution-fixture.ts'
import type { History } from './history.ts'
import { kindOf } from './program-worker.ts'

const CONCURRENCY = 6
const CALL_MS = 15_000
const PAUSE_MS = 25
const RECENT = 40

/** Starts clients that run, read, cancel, resume and approve. Stopping returns the acknowledged runs. */
export function clients(a: ExecutionFixture, history: History): () => Promise<number> {
  const known: { id: string; marker: number }[] = []
  let isOver = false
  let made = 0
  const any = () => known[Math.max(0, known.length - 1 - Math.floor(Math.random() * RECENT))]
  const send = (method: string, path: string, body?: string) => {
    const [one = a.one, two = one] = a.system.gateways
    return call(method, (Math.random() < 0.5 ? one : two) + path, { body, timeoutMs: CALL_MS })
  }

  const run = async () => {
    const marker = made++
    const answer = await history.ask({ what: 'run', marker }, () =>
      send('POST', `${a.flow}/run/async`, String(marker)),
    )
    if (answer?.status === 200) known.push({ id: answer.json.execution_id, marker })
  }
  const act = async ({ id, marker }: { id: string; marker: number }) => {
    const chance = Math.random()
    if (chance < 0.15)
      await history.ask({ what: 'cancel', id }, () => send('GET', `${a.flow}/cancel/${id}`))
    else if (chance < 0.5 && kindOf(marker) === 'pausing') {
      const body = `{"body":"${Math.random()}"}`
      const path = `${a.flow}/resume/${id}/async`
      await history.ask({ what: 'resume', id, body }, () => send('POST', path, body))
    } else if (chance < 0.5 && kindOf(marker) === 'approving') {
      const path = `/executions/${id}/approvals/s3/approve`
      await history.ask({ what: 'approve', id }, () => send('POST', path, '{}'))
    } else
      await history.ask({ what: 'read', id }, () => send('GET', `/executions/${id}?detailed=true`))
  }
  const loop = async () => {
    while (!isOver) {
      const target = any()
      if (!target || Math.random() < 0.35) await run()
      else await act(target)
      await pause(PAUSE_MS)
    }
  }
  const loops = Promise.all(Array.from({ length: CONCURRENCY }, loop))
  return async () => {
    isOver = true
    await loops
    return known.length
  }
}
