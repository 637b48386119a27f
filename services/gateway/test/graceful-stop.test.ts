import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

const STREAMS = 40

const CLIENTS = 40

/** Sends one request; resolves to the Connection header of the response, or the code of the error. */
const send = (url: string, agent: Agent) =>
  new Promise<string>((resolve) => {
    const outgoing = request(`${url}/executions/${ID}`, { agent }, (response) => {
      response.resume().once('end', () => resolve(response.headers.connection ?? ''))
    })
    outgoing.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
    outgoing.end()
  })

test('R7: a stop under load on kept-alive connections: every request is answered, none is reset', async () => {
  const { url, stop } = await startGateway()
  const answers = Array<number>(CLIENTS).fill(0)
  const client = async (_: unknown, i: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    for (;;) {
      const answer = await send(url, agent)
      answers[i] = (answers[i] ?? 0) + 1
      // After "Connection: close" a client opens a new connection, which is refused.
      if (answer !== 'keep-alive') return answer
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  await expect.poll(() => Math.min(...answers)).toBeGreaterThan(2)
  const stopped = stop()
  expect(new Set(await clients)).toEqual(new Set(['close']))
  await stopped
})

test('a stop with open event streams: they end one after another', async () => {
  const { json, call, executions, stop } = await startGateway()
  await json('POST', '/workflows/default/hello/run/async', 1)
  const open = () => call('GET', `/executions/${executions.last}/events`)
  const streams = await Promise.all(Array.from({ length: STREAMS }, open))
  const ends = Promise.all(
    streams.map(async (response) => {
      await response.text()
      return performance.now()
    }),
  )
  await stop()
  const ended = await ends
  expect(Math.max(...ended) - Math.min(...ended)).toBeGreaterThan(200)
})

test('a stop with an event stream: idle connections close first, so that its reader goes elsewhere', async () => {
  const { url, json, call, executions, stop } = await startGateway()
  await json('POST', '/workflows/default/hello/run/async', 1)
  const stream = await call('GET', `/executions/${executions.last}/events`)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  expect(await send(url, agent)).toBe('keep-alive')
  const stopped = stop()
  await stream.text()
  expect(await send(url, agent)).toBe('ECONNREFUSED')
  await stopped
})

test('a request that arrives on an idle connection during a stop: answered, then closed', async () => {
  const { url, stop } = await startGateway()
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  const get = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'
  socket.write(get)
  await expect.poll(() => text).toContain('\r\n\r\n')
  text = ''
  const stopped = stop()
  socket.write(get)
  await expect.poll(() => text).toMatch(/^HTTP\/1.1 \d+ [\s\S]*connection: close/i)
  await stopped
})
