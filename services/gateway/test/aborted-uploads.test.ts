import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { invalid } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

const ABORTED = Number(process.env.TEST_ABORTED ?? 1_000)
const AT_ONCE = 20
const BODY_BYTES = 65_536
const HEAD =
  'POST /workflows HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n' +
  'Content-Type: multipart/form-data; boundary=x\r\n\r\n' +
  '--x\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'

/** Sends a part of a file, then closes the connection with FIN or RST. */
const abort = (port: number, body: string, withFin: boolean) =>
  new Promise<void>((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1')
    socket.on('error', () => {}).once('close', () => resolve())
    socket.resume().write(HEAD + body, () => (withFin ? socket.end() : socket.resetAndDestroy()))
  })

const openFiles = () => readdirSync('/proc/self/fd').length
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const bytesInUse = () => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test(`N116: ${ABORTED} clients disconnect during an upload: no file, socket or memory leaks`, async () => {
  const sources: Buffer[] = []
  const { url, call } = await startGateway({
    catalog: {
      async analyze({ source }) {
        sources.push(source)
        throw invalid('No workflow found in the provided code.')
      },
    },
  })
  const port = Number(new URL(url).port)
  const body = 'x'.repeat(BODY_BYTES)
  const abortUploads = async (count: number) => {
    for (let left = count; left > 0; left -= AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => abort(port, body, i % 2 === 0)))
  }
  await abortUploads(100)
  const [filesBefore, bytesBefore] = [openFiles(), bytesInUse()]
  await abortUploads(ABORTED)
  await expect.poll(openFiles).toBeLessThanOrEqual(filesBefore + AT_ONCE)
  await expect.poll(() => bytesInUse() - bytesBefore).toBeLessThan((ABORTED * BODY_BYTES) / 4)

  expect(sources).toEqual([])
  const form = new FormData()
  form.append('file', new Blob(['x = 1']))
  expect((await call('POST', '/workflows', { body: form })).status).toBe(400)
  expect(sources).toHaveLength(1)
})
