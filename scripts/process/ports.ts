import { once } from 'node:events'
import net from 'node:net'

const FIRST_PORT = 20_000
const LAST_PORT = 31_999 // below 32768, where the kernel's ephemeral ports begin
const DRAWS_MAX = 50
const STARTS_MAX = 10

/** Returns a free port of 127.0.0.1; another process may take it before it is used. */
export async function freePort(): Promise<number> {
  for (let draw = 0; draw < DRAWS_MAX; draw++) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1))
    if (await canBind(port)) return port
  }
  throw new Error(`no free port found between ${FIRST_PORT} and ${LAST_PORT}`)
}

/** Runs `start(port)` and retries with another port if its error says that the port is in use. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort())
    } catch (error) {
      if (!saysPortTaken(error) || attempt === STARTS_MAX) throw error
    }
  }
}

/** Returns true if an error, or the log lines in it, says that the port is in use. */
export function saysPortTaken(error: unknown): boolean {
  return /EADDRINUSE|address already in use/i.test(
    error instanceof Error ? error.message : String(error),
  )
}

/** Returns true if a server could listen on this port of 127.0.0.1 now. */
export async function canBind(port: number): Promise<boolean> {
  const server = net.createServer()
  server.listen({ port, host: '127.0.0.1', exclusive: true })
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
