import { once } from 'node:events'
import net from 'node:net'

const FIRST_PORT = 20_000
const LAST_PORT = 31_999 // below 32768, where the kernel hands out ports to clients
const DRAWS_MAX = 50
const STARTS_MAX = 10

/** A port of 127.0.0.1 that could be bound a moment ago; it may be taken again before it is used. */
export async function freePort() {
  for (let draw = 0; draw < DRAWS_MAX; draw++) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1))
    if (await canBind(port)) return port
  }
  throw new Error(`no free port found between ${FIRST_PORT} and ${LAST_PORT}`)
}

/** Runs `start(port)` and draws another port whenever its error says that the port was taken. */
export async function onFreePort(start) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort())
    } catch (error) {
      if (!saysPortTaken(error) || attempt === STARTS_MAX) throw error
    }
  }
}

/** Whether an error, or the log lines it carries, is a server's complaint about a taken port. */
export function saysPortTaken(error) {
  return /EADDRINUSE|address already in use/i.test(String(error?.message ?? error))
}

/** Whether a server on this machine could listen on this port of 127.0.0.1 right now. */
export async function canBind(port) {
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
