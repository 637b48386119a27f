import { expect, test } from 'vitest'
import { BoundedInbox } from './inbox.ts'

const letter = (length: number) => ({
  items: [{ task_id: '', task_name: '', value_json: 'x'.repeat(length), time: '' }],
})

test('messages: taken in the order of arrival', async () => {
  const mail = new BoundedInbox(new AbortController().signal)
  const waiting = mail.take()
  mail.put(letter(1))
  mail.put(letter(2))
  expect([await waiting, await mail.take()]).toEqual([letter(1), letter(2)])
})

test('overflow: all messages are dropped, reported once', async () => {
  const mail = new BoundedInbox(new AbortController().signal)
  for (let i = 0; i < 3; i++) mail.put(letter(400_000))
  mail.put(letter(1))
  expect(await mail.take()).toBe('overflow')
  expect(await mail.take()).toEqual(letter(1))
})

test('the reader leaves: take resolves at once', async () => {
  const leaving = new AbortController()
  const mail = new BoundedInbox(leaving.signal)
  const waiting = mail.take()
  leaving.abort()
  expect(await waiting).toBe('overflow')
})
