import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** ErrorResponse of a server that accepts connections and recovers: cannot_connect_now. */
const RECOVERING = errorResponse({
  S: 'FATAL',
  V: 'FATAL',
  C: '57P03',
  M: 'the database system is starting up',
})

function errorResponse(fields: Record<string, string>): Buffer {
  const body = Object.entries(fields).map(([code, text]) => `${code}${text}\0`)
  const content = Buffer.from(`${body.join('')}\0`)
  const head = Buffer.from([0x45, 0, 0, 0, 0])
  head.writeUInt32BE(content.length + 4, 1)
  return Buffer.concat([head, content])
}

/**
 * A way to the PostgreSQL of `url` that answers like a server that recovers after a crash, until
 * `recover` is called. `refused` counts the connections until then.
 */
export async function recoveringPostgres(url: string) {
  const target = new URL(url)
  const state = { isRecovering: true, refused: 0 }
  const server = net.createServer((client) => {
    client.on('error', () => {})
    if (state.isRecovering) {
      state.refused++
      client.once('data', () => client.end(RECOVERING))
      return
    }
    const upstream = net.connect(Number(target.port), target.hostname)
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
    client.pipe(upstream).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const proxied = new URL(url)
  proxied.hostname = '127.0.0.1'
  proxied.port = String((server.address() as AddressInfo).port)
  return {
    url: proxied.href,
    get refused() {
      return state.refused
    },
    recover: () => {
      state.isRecovering = false
    },
  }
}
