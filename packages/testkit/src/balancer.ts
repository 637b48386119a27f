import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'

/**
 * Starts a load balancer on the transport layer: one address for several replicas, round robin, with
 * the next replica if one refuses the connection. Returns its port.
 */
export async function startBalancer(ports: readonly number[]) {
  let turn = 0
  const open = new Set<net.Socket>()

  const forward = (client: net.Socket, tries: number) => {
    const port = ports[turn++ % ports.length] as number
    const upstream = net.connect({ port, host: '127.0.0.1' })
    open.add(upstream)
    upstream.once('connect', () => client.pipe(upstream).pipe(client))
    upstream.once('error', () => {
      if (upstream.bytesWritten === 0 && upstream.connecting !== true && tries < ports.length)
        forward(client, tries + 1)
      else client.destroy()
    })
    upstream.once('close', () => {
      open.delete(upstream)
      if (upstream.bytesRead > 0) client.destroy()
    })
    client.once('close', () => upstream.destroy())
  }

  const server = net.createServer((client) => {
    open.add(client)
    client.once('close', () => open.delete(client))
    client.on('error', () => {})
    forward(client, 1)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}
