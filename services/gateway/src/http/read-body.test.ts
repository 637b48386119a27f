import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { discardBody } from './read-body.ts'
import type { RequestContext } from './request-context.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const requestOf = (body: Readable) => {
  const socket = { destroy: vi.fn() }
  const req = Object.assign(body, { socket })
  return { ctx: { req } as unknown as RequestContext, socket }
}

test('a body that was read to its end: its connection stays open for other requests', async () => {
  const body = Readable.from(['x'])
  const { ctx, socket } = requestOf(body)
  for await (const _ of body);
  discardBody(ctx)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(socket.destroy).not.toHaveBeenCalled()
})

test('a body that ends while it is discarded: its connection stays open', async () => {
  const { ctx, socket } = requestOf(Readable.from(['x', 'y']))
  discardBody(ctx)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(socket.destroy).not.toHaveBeenCalled()
})

test('a body that does not end: its connection is closed', async () => {
  const { ctx, socket } = requestOf(new Readable({ read: () => undefined }))
  discardBody(ctx)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(socket.destroy).toHaveBeenCalled()
})
