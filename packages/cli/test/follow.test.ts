import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { cliFixture } from './cli-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'

const frame = (seq: number, type: string, more = '') =>
  `id: ${seq}\nevent: ${type.toLowerCase()}\ndata: {"state":"${type.split('_')[1]}","type":"${type}","name":"n"${more},"time":"t"}\n\n`

/** Serves one connection after another: the text of each, which ends, or a status. */
async function serve(...answers: (string | number)[]) {
  const seen: IncomingMessage[] = []
  const server = createServer((req, res) => {
    seen.push(req)
    const answer = answers.shift() ?? 404
    if (typeof answer === 'number')
      return void res
        .writeHead(answer, { 'content-type': 'application/json' })
        .end('{"detail":"no"}')
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(answer, () => (answer.includes('COMPLETED') ? res.end() : req.socket.destroy()))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { windlass } = await cliFixture()
  const follow = (...argv: string[]) =>
    windlass('execution', 'follow', ID, '--server-url', url, ...argv)
  return { follow, seen }
}

test('execution follow over lost connections: prints each event once, until the end', async () => {
  const line = frame(1, 'LOG_LINE', ',"value":{"seq":7,"message":"hi\\u001b[2J"}')
  const { follow, seen } = await serve(
    frame(1, 'WORKFLOW_STARTED') + line,
    503,
    frame(2, 'WORKFLOW_COMPLETED'),
  )
  const { status, out, err } = await follow('--logs')
  expect(out).toBe('t  WORKFLOW_STARTED  n\nt  LOG_LINE  hi\\u001b[2J\nt  WORKFLOW_COMPLETED  n\n')
  expect(status).toBe(0)
  expect(err).toBe('the connection was lost; connecting again\n'.repeat(2))
  expect(seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1', '1'])
  expect(seen[2]?.url).toBe(`/executions/${ID}/events?logs=true&logs_after=7`)
})

test('execution follow with --json: prints the data of each event unchanged', async () => {
  const exact = '{"state":"COMPLETED","type":"WORKFLOW_COMPLETED","output": 9007199254740993}'
  const { follow } = await serve(`id: 1\nevent: workflow_completed\ndata: ${exact}\n\n`)
  expect(await follow('--json')).toEqual({ status: 0, out: `${exact}\n`, err: '' })
})

test('execution follow of a failed execution: exit status 1', async () => {
  const { follow } = await serve(`${frame(1, 'WORKFLOW_FAILED')}: COMPLETED\n\n`)
  expect((await follow()).status).toBe(1)
})

test('execution follow that is refused, at first or later: exit status 1 with the reason', async () => {
  const { follow } = await serve(404)
  expect(await follow()).toMatchObject({ status: 1, err: expect.stringContaining('(404): no') })
  const later = await serve(frame(1, 'WORKFLOW_STARTED'), 403)
  expect((await later.follow()).err).toContain('(403): no')
  const during = await serve(
    `${frame(1, 'WORKFLOW_STARTED')}${frame(1, 'ACCESS_DENIED', ',"detail":"revoked"')}: COMPLETED\n\n`,
  )
  expect(await during.follow()).toMatchObject({
    status: 1,
    err: expect.stringContaining('revoked'),
  })
})
