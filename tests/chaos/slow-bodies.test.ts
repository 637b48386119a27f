import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { executionFixture, expectOk, sharedSystem } from '../e2e/execution-fixture.ts'

const SLOW = 1_000
const PATIENT = { timeout: 600_000 }
const HEAD =
  'POST /workers/register HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n'
const system = sharedSystem()

test(
  'N096: a thousand bodies at one byte a second: closed by the server, other requests do not wait',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 1)
    const [worker] = a.workers
    if (!worker) expect.unreachable()
    const { hostname, port } = new URL(system().url)
    const slow = await Promise.all(
      Array.from({ length: SLOW }, () => startSlowBody(hostname, port)),
    )
    const open = () => slow.filter(({ destroyed }) => !destroyed).length
    const trickle = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write(' ')
    }, 1_000)
    try {
      for (let n = 0; n < 20; n++) {
        const id = await a.run()
        expectOk(await worker.complete(id, await worker.awaitAndClaim(id)))
      }
      await expect.poll(open, { timeout: 60_000, interval: 1_000 }).toBe(0)
    } finally {
      clearInterval(trickle)
      for (const socket of slow) socket.destroy()
    }
  },
)

/** Starts a request whose body never ends; resolves when it is connected. */
function startSlowBody(host: string, port: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port) }, () => {
      socket.write(HEAD)
      resolve(socket)
    })
    socket.once('error', reject)
    socket.on('error', () => {})
    socket.resume()
  })
}
