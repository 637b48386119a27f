import { spawn } from 'node:child_process'
import { ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { HANG_MS, OWN } from './dispatchers-fake.ts'
import { startGateway } from './gateway-fixture.ts'

const SUSPENDED_MS = 1_500
const MARK = 'the frame'

/**
 * A dispatcher in a process of its own. It prints its port, and the time and text of what it receives with beats. A line that
 * it reads goes to the worker as a frame.
 */
const DISPATCHER = `
  import { createServer } from 'node:http'
  const server = createServer((req, res) => {
    req.on('data', (chunk) => console.log(Date.now() + ' ' + String(chunk).replaceAll('\\n', '|')))
    if (req.url === '/beats') return setInterval(() => res.write('.'), 50)
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-windlass-connection-generation': 7 })
    res.write(': connected\\n\\n')
    process.stdin.on('data', (line) => res.write('data: ' + String(line).trim() + '\\n\\n'))
  }).listen(0, '127.0.0.1', () => console.log(server.address().port))
`

async function startDispatcher() {
  const child = spawn(process.execPath, ['--input-type=module', '-e', DISPATCHER], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  await expect.poll(() => lines.length, { timeout: HANG_MS }).toBe(1)
  return {
    url: `http://127.0.0.1:${lines[0]}`,
    received: () => lines.slice(1),
    send: (text: string) => child.stdin.write(`${text}\n`),
  }
}

/** Suspends this process as soon as the frame has been given to the connection of the worker; returns when. */
function suspendAfterWrite(): () => number | undefined {
  let suspendedAt: number | undefined
  const { write } = ServerResponse.prototype
  onTestFinished(() => {
    ServerResponse.prototype.write = write
  })
  ServerResponse.prototype.write = function (this: ServerResponse, ...given: unknown[]) {
    const result = Reflect.apply(write, this, given)
    if (suspendedAt === undefined && String(given[0]).includes(MARK)) {
      suspendedAt = Date.now()
      while (Date.now() < suspendedAt + SUSPENDED_MS);
    }
    return result
  }
  return () => suspendedAt
}

test('a gateway is suspended when it has written a frame: the dispatcher has its acknowledgement', {
  timeout: HANG_MS,
}, async () => {
  const dispatcher = await startDispatcher()
  const gateway = await startGateway({}, { SVC_SERVICES__DISPATCHER_STREAMS: dispatcher.url })
  const response = await fetch(`${gateway.url}/workers/w1/connect`, { headers: OWN })
  onTestFinished(() => response.body?.cancel())
  await expect.poll(() => dispatcher.received().length, { timeout: HANG_MS }).toBeGreaterThan(2)
  const suspendedAt = suspendAfterWrite()
  dispatcher.send(`${MARK} ${'x'.repeat(100)}`)
  const acknowledgement = () => dispatcher.received().find((line) => / [.]*7 \d+ w1\|/.test(line))
  await expect.poll(acknowledgement, { timeout: HANG_MS }).toBeDefined()
  const receivedAt = Number(acknowledgement()?.split(' ')[0])
  expect(receivedAt).toBeLessThan((suspendedAt() ?? 0) + SUSPENDED_MS)
})
