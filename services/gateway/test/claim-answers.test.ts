import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault } from '@windlass/runtime/faults'
import { expect, onTestFinished, test } from 'vitest'
import { ClaimAnswers } from '../src/clients/claim-answers.ts'
import type { ChangedExecution } from '../src/clients/executions-client.ts'

const HANG_MS = 30_000
const MIB = 2 ** 20
const WRITER = { worker_name: 'w', session_id: 's', claim_generation: 3 }

/** Follows answers, and records the confirmations as `[execution_id, pending_bytes]`. */
function followed(refusals: Fault[] = []) {
  const confirmed: [string, number][] = []
  const submit = async ({ execution_id, body }: Command): Promise<ChangedExecution> => {
    if (body?.$case !== 'confirm_claim') throw new Error(`unexpected ${body?.$case}`)
    expect(body.value.writer).toEqual(WRITER)
    const refusal = refusals.shift()
    if (refusal) throw refusal
    confirmed.push([execution_id, body.value.pending_bytes])
    return { execution: {} as ChangedExecution['execution'], log: [] }
  }
  const answers = new ClaimAnswers({ submit }, { debug: () => {} })
  onTestFinished(() => answers.stop())
  return { confirmed, answers }
}

/** Opens a request; returns its response at the server, and the client. */
async function openRequest() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  client.on('error', () => {})
  onTestFinished(() => {
    client.destroy()
    server.closeAllConnections()
    server.close()
  })
  const [, res] = (await once(server, 'request')) as [unknown, ServerResponse]
  return { res, client }
}

test('sent: confirmed once', async () => {
  const { answers, confirmed } = followed()
  const { res, client } = await openRequest()
  answers.track('a', WRITER, res)
  res.end('{}')
  client.on('response', (response) => response.resume())
  await expect.poll(() => confirmed, { timeout: HANG_MS }).toEqual([['a', 0]])
  await answers.stop()
  expect(confirmed).toEqual([['a', 0]])
})

test('its worker has sent a checkpoint, or the connection broke before: not confirmed', async () => {
  const { answers, confirmed } = followed()
  const [working, broken, sent] = [await openRequest(), await openRequest(), await openRequest()]
  for (const { client } of [working, broken, sent])
    client.on('response', (response) => response.resume())
  answers.track('working', WRITER, working.res)
  working.res.end('{}')
  answers.forget('working')
  answers.track('broken', WRITER, broken.res)
  broken.client.destroy()
  await once(broken.res, 'close')
  broken.res.end('{}')
  answers.track('sent', WRITER, sent.res)
  sent.res.end('{}')
  await expect.poll(() => confirmed, { timeout: HANG_MS }).toEqual([['sent', 0]])
})

test('still being sent to a slow reader: the deadline is extended by what is left', async () => {
  const { answers, confirmed } = followed()
  const { res, client } = await openRequest()
  answers.track('a', WRITER, res)
  const reading = once(client, 'response')
  res.end('x'.repeat(16 * MIB))
  const [response] = await reading
  response.pause()
  await expect.poll(() => confirmed.length, { timeout: HANG_MS }).toBeGreaterThan(0)
  expect(confirmed[0]).toEqual(['a', expect.any(Number)])
  expect(confirmed[0]?.[1]).toBeGreaterThan(MIB)
  response.resume()
  await expect.poll(() => confirmed.at(-1), { timeout: HANG_MS }).toEqual(['a', 0])
})

test('a replica that is unavailable or does not know the command: repeated; a lost claim: not', async () => {
  const { answers, confirmed } = followed([
    new Fault('invalid', 'A command needs a body.'),
    new Fault('unavailable', 'down'),
  ])
  const repeated = await openRequest()
  answers.track('a', WRITER, repeated.res)
  repeated.res.end('{}')
  await expect.poll(() => confirmed, { timeout: HANG_MS }).toEqual([['a', 0]])

  const refused = followed([new Fault('conflict', 'stale-claim')])
  const [lost, kept] = [await openRequest(), await openRequest()]
  refused.answers.track('lost', WRITER, lost.res)
  lost.res.end('{}')
  await once(lost.res, 'finish')
  refused.answers.track('kept', WRITER, kept.res)
  kept.res.end('{}')
  await expect.poll(() => refused.confirmed, { timeout: HANG_MS }).toEqual([['kept', 0]])
  await refused.answers.stop()
  expect(refused.confirmed).toEqual([['kept', 0]])
})

test('the gateway stops: what was sent is confirmed at once', async () => {
  const { answers, confirmed } = followed()
  const [sent, open] = [await openRequest(), await openRequest()]
  answers.track('sent', WRITER, sent.res)
  answers.track('open', WRITER, open.res)
  sent.res.end('{}')
  await once(sent.res, 'finish')
  await answers.stop()
  expect(confirmed).toEqual([['sent', 0]])
})
