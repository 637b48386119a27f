import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Processes } from '../process/processes.ts'

const PATH_BYTES = 24

/**
 * Listens on loopback for the demonstration of the console, which kills the workers of this system; they
 * are started again like any worker that ends. Returns the URL. Its path is random, since every process
 * of the machine reaches the port; the environment of the gateway alone has it.
 */
export async function openDemoControl(
  processes: Pick<Processes, 'killExpendable'>,
): Promise<string> {
  const path = `/${randomBytes(PATH_BYTES).toString('hex')}`
  const server = createServer((request, response) => {
    request.resume()
    const isKnown = request.method === 'POST' && request.url === path
    const body = isKnown ? { killed: processes.killExpendable() } : {}
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  server.unref()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
}
