import { expect, test } from 'vitest'
import { type ServerSentEvent, toServerSentEvents } from './event-stream.ts'

test('chunks of comments and of parts of events: each counts, whole events are yielded', async () => {
  const chunks = [': ping\n\n', 'event: a\ndata: [1,\n', 'data: 2]\n\ndata: 3\n\n']
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
      controller.close()
    },
  })
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  let count = 0
  const events: ServerSentEvent[] = []
  for await (const event of toServerSentEvents(response, () => count++)) events.push(event)
  expect(count).toBe(chunks.length)
  expect(events).toEqual([
    { event: 'a', id: '', data: '[1,\n2]' },
    { event: 'message', id: '', data: '3' },
  ])
})
