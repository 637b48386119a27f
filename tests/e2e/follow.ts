import { type EventFrame, type Events, openEvents } from '@windlass/testkit/http'
import { expect, onTestFinished } from 'vitest'
import { type Arena, HANG_MS } from './arena.ts'

export interface Read {
  frames: EventFrame[]
  stream: Events
}

/** Follows an execution at a gateway, from its beginning or after an event. */
export async function follow(a: Arena, id: string, url = a.one, after = ''): Promise<Read> {
  const frames: EventFrame[] = []
  const headers: Record<string, string> = after === '' ? {} : { 'last-event-id': after }
  const stream = await openEvents(`${url}/executions/${id}/events`, headers, (frame) =>
    frames.push(frame),
  )
  onTestFinished(() => stream.close())
  return { frames, stream }
}

/** Waits until all of them are over. */
export const ended = (reads: readonly Read[]) =>
  expect.poll(() => reads.every(({ stream }) => stream.ended), { timeout: HANG_MS }).toBe(true)

/** Their terminal events. */
export const finals = ({ frames }: Read) =>
  frames.filter(({ event }) => /^workflow_(completed|failed|cancelled)$/.test(event))
