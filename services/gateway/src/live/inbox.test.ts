import { expect, test } from 'vitest'
import { BoundedInbox } from './inbox.ts'

const message = (length: number) => ({
  items: [{ task_id: '', task_name: '', value_json: 'x'.repeat(length), time: '' }],
})

test('two messages: taken in the order of arrival', async () => {
  const inbox = new BoundedInbox(new AbortController().signal)
  const waiting = inbox.take()
  inbox.put(message(1))
  inbox.put(message(2))
  expect([await waiting, await inbox.take()]).toEqual([message(1), message(2)])
})

test('messages above the limit: all are dropped, one overflow is reported', async () => {
  const inbox = new BoundedInbox(new AbortController().signal)
  for (let i = 0; i < 3; i++) inbox.put(message(400_000))
  inbox.put(message(1))
  expect(await inbox.take()).toBe('overflow')
  expect(await inbox.take()).toEqual(message(1))
})

test('the reader leaves: its wait ends', async () => {
  const leaving = new AbortController()
  const inbox = new BoundedInbox(leaving.signal)
  const waiting = inbox.take()
  leaving.abort()
  expect(await waiting).toBe('overflow')
})
