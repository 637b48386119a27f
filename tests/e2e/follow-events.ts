import { type EventFrame, type EventStream, openEventStream } from '@windlass/testkit/http'
import { expect, onTestFinished } from 'vitest'
import { type ExecutionFixture, HANG_MS } from './execution-fixture.ts'

export interface EventReader {
  frames: EventFrame[]
  stream: EventStream
}

/** Opens an execution's event stream at a gateway, from the first event or after `after`. */
export async function follow(
  a: ExecutionFixture,
  id: string,
  url = a.one,
  after = '',
): Promise<EventReader> {
  const frames: EventFrame[] = []
  const headers: Record<string, string> = after === '' ? {} : { 'last-event-id': after }
  const stream = await openEventStream(`${url}/executions/${id}/events`, headers, (frame) =>
    frames.push(frame),
  )
  onTestFinished(() => stream.close())
  return { frames, stream }
}

/** Waits until all streams have ended. */
export const expectEnded = (reads: readonly EventReader[]) =>
  expect.poll(() => reads.every(({ stream }) => stream.ended), { timeout: HANG_MS }).toBe(true)

/** Filters the terminal events. */
export const terminalFrames = ({ frames }: EventReader) =>
  frames.filter(({ event }) => /^workflow_(completed|failed|cancelled)$/.test(event))
