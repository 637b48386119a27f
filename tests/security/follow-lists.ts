import { openEventStream } from '@windlass/testkit/http'
import { expect, onTestFinished } from 'vitest'
import type { AuthSystem } from './auth-system.ts'

const HANG_MS = 60_000

/** Follows all lists with a token; `text` returns what arrived. */
export async function followLists({ system }: AuthSystem, token: string) {
  let text = ''
  const url = `${system.gateways[1]}/events/stream?topics=executions,workers,schedules,approvals`
  const stream = await openEventStream(url, { authorization: `Bearer ${token}` }, (frame) => {
    text += JSON.stringify(frame)
  })
  onTestFinished(() => stream.close())
  await expect.poll(() => text, { timeout: HANG_MS }).toContain('ready')
  return { text: () => text }
}
