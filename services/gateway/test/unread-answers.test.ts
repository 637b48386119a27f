import { connect, type Socket } from 'node:net'
import type { LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import { expect, onTestFinished, test } from 'vitest'
import { type FakeServices, startGateway } from './gateway-fixture.ts'
import { keyOf, keysOfAnnAndBob } from './service-account.ts'

const MEBIBYTE = 1_048_576
/** More than the buffers of a connection take. */
const INPUT_BYTES = 15 * MEBIBYTE

/** A gateway with an execution that two principals may read, and limits of two answers to each and three to all. */
async function setup(env: Record<string, string> = {}, scripts: FakeServices = {}) {
  const gateway = await startGateway(
    {
      keys: keysOfAnnAndBob(),
      ...scripts,
    },
    {
      SVC_SECURITY__AUTH__ENABLED: 'true',
      SVC_SERVER__MAX_PRINCIPAL_BODY_BYTES_IN_FLIGHT: String(32 * MEBIBYTE),
      SVC_SERVER__MAX_BODY_BYTES_IN_FLIGHT: String(48 * MEBIBYTE),
      ...env,
    },
  )
  const headersOf = (digit: string) => ({ authorization: `Bearer ${keyOf(digit)}` })
  const run = await fetch(`${gateway.url}/workflows/default/hello/run/async`, {
    method: 'POST',
    headers: { ...headersOf('0'), 'content-type': 'application/json' },
    body: JSON.stringify('x'.repeat(INPUT_BYTES)),
  })
  expect(run.status, await run.text()).toBe(200)
  const path = `/executions/${gateway.executions.last}`
  const read = (digit: string, query = '') =>
    fetch(gateway.url + path + query, { headers: headersOf(digit) })
  /** A client that reads the begin of its answer only. */
  const stall = (digit: string, more = '') => stalledReader(gateway.url, path + more, keyOf(digit))
  return { ...gateway, read, stall }
}

/** Sends a request and stops reading after the first bytes of the answer. */
async function stalledReader(url: string, path: string, key: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  const head = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
  socket.pause()
  expect(head.toString()).toMatch(/^HTTP\/1.1 200/)
  return socket
}

test('a principal reads none of its large answers: the next is 503; small ones, other callers are served', async () => {
  const { read, stall } = await setup()
  const stalled = [await stall('0'), await stall('0')]
  const refused = await read('0')
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await refused.text()).toContain('answers that are not read')
  expect((await read('0', '?payloads=omit')).status).toBe(200)
  expect((await (await read('1')).arrayBuffer()).byteLength).toBeGreaterThan(INPUT_BYTES)

  for (const socket of stalled) socket.destroy()
  await expect.poll(async () => (await read('0')).status).toBe(200)
})

test('all together above the limit: the oldest answer of the principal with the most is cut off', async () => {
  const { read, stall } = await setup()
  const [first, second] = [await stall('0'), await stall('0')]
  const third = await stall('1')
  expect((await (await read('1')).arrayBuffer()).byteLength).toBeGreaterThan(INPUT_BYTES)
  first.resume()
  await new Promise((resolve) => first.once('close', resolve))
  expect(first.bytesRead).toBeLessThan(INPUT_BYTES)
  expect([second.destroyed, third.destroyed]).toEqual([false, false])
})

test('a large answer that is read byte by byte: cut off after its deadline', async () => {
  const { stall, read } = await setup({
    SVC_SERVER__MAX_PRINCIPAL_BODY_BYTES_IN_FLIGHT: String(20 * MEBIBYTE),
    SVC_SERVER__ANSWER_TIMEOUT: '1',
    SVC_SERVER__MIN_ANSWER_RATE: String(32 * MEBIBYTE),
  })
  const slow = await stall('0')
  const trickle = setInterval(() => slow.read(1), 50)
  onTestFinished(() => clearInterval(trickle))
  // While it counts, there is no place for another one.
  // On a busy machine it may exceed its own deadline.
  const readAnother = () =>
    read('0')
      .then(async (answer) => (await answer.arrayBuffer()).byteLength)
      .catch(() => 0)
  await expect.poll(readAnother, { interval: 500 }).toBeGreaterThan(INPUT_BYTES)
  const closed = new Promise((resolve) => slow.once('close', resolve))
  slow.resume()
  await closed
  expect(slow.bytesRead).toBeLessThan(INPUT_BYTES)
})

test('an answer that is read in time: complete', async () => {
  const { read } = await setup({
    SVC_SERVER__ANSWER_TIMEOUT: '1',
    SVC_SERVER__MIN_ANSWER_RATE: '65536',
  })
  expect((await (await read('0')).arrayBuffer()).byteLength).toBeGreaterThan(INPUT_BYTES)
})

test('event streams that do not read the log so far: counted as large answers, until they have read it', async () => {
  let log: LogEntry[] = []
  const { executions, read, stall } = await setup(
    { SVC_SERVER__MAX_PRINCIPAL_BODY_BYTES_IN_FLIGHT: String(30 * MEBIBYTE) },
    {
      executions: {
        log: async ({ execution_id }) => {
          const { execution } = executions.rows.get(execution_id) ?? {}
          return { execution, entries: log, more: false }
        },
      },
    },
  )
  const value_json = JSON.stringify('x'.repeat(MEBIBYTE))
  executions.signals.on = false
  const events = Array.from({ length: 20 }, () => ({ type: 'TASK_COMPLETED', value_json }))
  executions.grow(executions.last, 'RUNNING', events)
  log = executions.rows.get(executions.last)?.log ?? []
  const first = await stall('0', '/events')
  const second = await stall('0', '/events')
  second.resume()
  await new Promise((resolve) => second.once('close', resolve))
  expect(second.bytesRead).toBeLessThan(20 * MEBIBYTE)
  expect((await read('0')).status).toBe(503)
  first.resume()
  await expect.poll(() => first.bytesRead).toBeGreaterThan(20 * MEBIBYTE)
  await expect.poll(async () => (await read('0')).status).toBe(200)
  expect(first.destroyed).toBe(false)
})
