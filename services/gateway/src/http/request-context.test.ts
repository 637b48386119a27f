import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Fault } from '@windlass/runtime/faults'
import { expect, onTestFinished, test } from 'vitest'
import { RequestContext } from './request-context.ts'

/** The context of a request that has reached a server and is not answered, with its client. */
async function openRequest() {
  let receive: (ctx: RequestContext) => void = () => {}
  const received = new Promise<RequestContext>((resolve) => {
    receive = resolve
  })
  const server = createServer((req, res) => receive(new RequestContext(req, res)))
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = request({ port, host: '127.0.0.1', agent: false }).end()
  client.on('error', () => {})
  onTestFinished(() => void client.destroy())
  return { ctx: await received, client }
}

/** Answers the request and waits until the response has closed at both ends. */
async function answer({ ctx, client }: Awaited<ReturnType<typeof openRequest>>) {
  const closed = once(ctx.res, 'close')
  ctx.res.end('done')
  const [response] = await once(client, 'response')
  response.resume()
  await Promise.all([closed, once(response, 'end')])
}

test('finished request: its signal stays unaborted', async () => {
  const opened = await openRequest()
  const { signal } = opened.ctx
  await answer(opened)
  expect(signal.aborted).toBe(false)
})

test('client disconnects before the response has ended: the signal aborts', async () => {
  const { ctx, client } = await openRequest()
  const { signal } = ctx
  const aborted = once(signal, 'abort')
  ctx.res.write('the first part')
  client.destroy()
  await aborted
  expect(signal.reason).toMatchObject({ kind: 'unavailable', message: 'the client has left' })
})

test('client has disconnected before the signal is read: it is aborted', async () => {
  const { ctx, client } = await openRequest()
  const closed = once(ctx.res, 'close')
  client.destroy()
  await closed
  expect(ctx.signal.aborted).toBe(true)
})

test('server stops: the signal aborts with the reason, the client still connected', async () => {
  const { ctx } = await openRequest()
  const { signal, stopSignal } = ctx
  const reason = new Fault('unavailable', 'the server stops')
  ctx.abort(reason)
  expect([signal.reason, stopSignal.reason]).toEqual([reason, reason])
})
