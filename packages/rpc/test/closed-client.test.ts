import { createConnection, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { testIdentity } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/client.ts'
import { HOST, serveIdentity } from './identity-server.ts'

/** Passes connections on to a port; `open` has those that are open. */
async function startProxy(target: number) {
  const open = new Set<Socket>()
  const proxy = createServer((socket) => {
    open.add(socket)
    const onward = createConnection(target, HOST)
    socket.pipe(onward).pipe(socket)
    for (const end of [socket, onward]) end.on('error', () => end.destroy())
    socket.on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => proxy.listen(0, HOST, resolve))
  onTestFinished(() => void proxy.close())
  return { open, address: `${HOST}:${(proxy.address() as { port: number }).port}` }
}

test('a call after close: rejects, and opens no connection that would keep the process alive', async () => {
  const { port } = await serveIdentity({
    checkSession: async () => ({ worker_name: 'w', session_id: '' }),
  })
  const { open, address } = await startProxy(port)
  const client = connect(IdentityService, [address], testIdentity('gateway'))
  await client.checkSession({ token: '' })
  client.close()
  await expect.poll(() => open.size).toBe(0)
  await expect(client.checkSession({ token: '' })).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'the client of identity is closed',
  })
  await sleep(200)
  expect(open.size).toBe(0)
})
