import { once } from 'node:events'
import net from 'node:net'

const FIRST = 20_000
const LAST = 31_999
const ATTEMPTS = 50

/** Returns a port of 127.0.0.1 that was free a moment ago, below the kernel's ephemeral range. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1))
    const server = net.createServer()
    server.listen({ port, host: '127.0.0.1', exclusive: true })
    try {
      await once(server, 'listening')
      return port
    } catch {
      // In use: try another.
    } finally {
      server.close()
    }
  }
  throw new Error(`no free port between ${FIRST} and ${LAST} after ${ATTEMPTS} attempts`)
}
