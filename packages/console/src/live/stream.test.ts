import { ConnectionError, StatusError } from '@windlass/api-client/errors'
import type { ServerSentEvent } from '@windlass/api-client/event-stream'
import { expect, test } from 'vitest'
import { followStream } from './stream.ts'

const event = (id: string): ServerSentEvent => ({ event: 'executions', id, data: '{}' })

/** One connection each: events, then how it ends. */
type Connection = { events?: string[]; error?: Error }

/** Follows until the connections are used up; returns the course of things. */
async function run(connections: Connection[], after?: string) {
  const course: string[] = []
  const stopped = new AbortController()
  const left = [...connections]
  await followStream({
    after,
    async *open({ after: from, onOpen }) {
      course.push(`open ${from ?? '-'}`)
      const { events, error } = left.shift() ?? {}
      if (!events) throw error ?? new ConnectionError('lost')
      onOpen()
      for (const id of events) yield event(id)
      if (error) throw error
    },
    onEvent: ({ id }) => course.push(`event ${id}`),
    onState: (isLive) => {
      course.push(isLive ? 'live' : 'lost')
    },
    onRefused: ({ status }) => course.push(`refused ${status}`),
    random: () => 0,
    async sleep(ms) {
      course.push(`wait ${ms}`)
      if (left.length === 0) stopped.abort()
    },
    signal: stopped.signal,
  })
  return course
}

test('a stream that breaks: resumes behind the last event, later after each failure', async () => {
  const lost = new ConnectionError('lost')
  expect(
    await run([
      { events: ['7', '8'], error: lost },
      { error: lost },
      { error: lost },
      { events: ['9'] },
    ]),
  ).toEqual([
    ...['open -', 'live', 'event 7', 'event 8', 'lost', 'wait 500'],
    ...['open 8', 'lost', 'wait 1000', 'open 8', 'lost', 'wait 2000'],
    ...['open 8', 'live', 'event 9', 'lost', 'wait 4000'],
  ])
})

test('events without an id, or with none to resume from: the place stays', async () => {
  expect(await run([{ events: ['5', '', '0'] }, {}], '3')).toEqual([
    ...['open 3', 'live', 'event 5', 'event ', 'event 0', 'lost', 'wait 500'],
    ...['open 5', 'lost', 'wait 1000'],
  ])
})

test('a stream without events: live from its acceptance to its end', async () => {
  expect(await run([{ events: [] }])).toEqual(['open -', 'live', 'lost', 'wait 500'])
})

test.each([
  [new StatusError(503, '', '4'), ['wait 4500']],
  [new StatusError(429, '', 'soon'), ['wait 500']],
  [new StatusError(500, ''), ['wait 500']],
  [new StatusError(403, ''), ['refused 403', 'wait 60000']],
  [new StatusError(404, ''), ['refused 404', 'wait 60000']],
])('%s: %j', async (error, course) => {
  expect((await run([{ error }])).filter((one) => /wait|refused/.test(one))).toEqual(course)
})
