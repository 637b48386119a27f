import { once } from 'node:events'
import net from 'node:net'

const FIRST = 20_000
const LAST = 31_999
const DRAWS = 50

/** A port of 127.0.0.1 that could be bound a moment ago, below those that the kernel gives to clients. */
export async function freePort(): Promise<number> {
  for (let draw = 0; draw < DRAWS; draw++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1))
    const server = net.createServer()
    server.listen({ port, host: '127.0.0.1', exclusive: true })
    try {
      await once(server, 'listening')
      return port
    } catch {
      // Taken: draw another.
    } finally {
      server.close()
    }
  }
  throw new Error('no free port found')
}
