import { setTimeout as pause } from 'node:timers/promises'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { CheckSessionRequest, IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import {
  CallRequest,
  type CallResponse,
  CallsService,
  Notice,
} from '@windlass/proto/windlass/rpc/v1/calls'
import { testIdentity } from '@windlass/testkit/service-identity'
import { ThrottledLink } from '@windlass/testkit/throttled-link'
import { expect, onTestFinished, test } from 'vitest'
import { RECEIPTS_HEADER, SERVICE_TOKEN_HEADER } from '../src/call.ts'
import { connect } from '../src/client.ts'
import { MultiplexedCall } from '../src/multiplexed-server.ts'
import { HOST, serveIdentity } from './identity-server.ts'

const HANG_MS = 30_000
/** After it a response without a receipt has been taken back. */
const TAKEN_BACK_MS = 2_000
/** Time for the notice of a stop to arrive. */
const NOTICE_MS = 200

/** A replica whose responses ask for receipts, behind a link that can stop like a suspended process. */
async function startReplica() {
  const lost: string[] = []
  const entered: string[] = []
  const gate = { open: () => {}, opened: Promise.resolve() }
  const { port, server } = await serveIdentity({
    async checkSession({ token }, call) {
      if (!(call instanceof MultiplexedCall)) return { worker_name: 'unary', session_id: '' }
      call.onLost(() => lost.push(token))
      entered.push(token)
      await gate.opened
      return { worker_name: token, session_id: '' }
    },
  })
  const link = await ThrottledLink.to(port)
  onTestFinished(() => link.close())
  const client = connect(IdentityService, [`${HOST}:${link.port}`], testIdentity('gateway'))
  onTestFinished(() => client.close())
  const ask = async (token: string) => (await client.checkSession({ token })).worker_name
  await expect.poll(() => ask('first'), { timeout: HANG_MS }).toBe('first')
  const hold = () => {
    gate.opened = new Promise((resolve) => {
      gate.open = resolve
    })
  }
  return { lost, entered, link, port, server, client, ask, gate, hold }
}

test('the caller has given up: the response is taken back', async () => {
  const { lost, client, hold, gate, entered } = await startReplica()
  hold()
  const given = new AbortController()
  const call = client.checkSession({ token: 'b' }, { signal: given.signal })
  await expect.poll(() => entered).toContain('b')
  given.abort()
  await expect(call).rejects.toMatchObject({ kind: 'unavailable' })
  gate.open()
  await expect.poll(() => lost, { timeout: HANG_MS }).toEqual(['b'])
})

test('the client hangs: the response is taken back once, those that it had before are not', async () => {
  const { lost, entered, link, ask, hold, gate } = await startReplica()
  hold()
  const answer = ask('a')
  await expect.poll(() => entered).toContain('a')
  link.stop()
  gate.open()
  await expect.poll(() => lost, { timeout: HANG_MS }).toEqual(['a'])
  link.resume()
  expect(await answer).toBe('a')
  expect(await ask('b')).toBe('b')
  expect(lost).toEqual(['a'])
})

test('the client has gone: the response is taken back', async () => {
  const { lost, entered, link, ask, hold, gate } = await startReplica()
  hold()
  const answer = ask('a').catch(() => 'broken')
  await expect.poll(() => entered).toContain('a')
  link.close()
  expect(await answer).toBe('broken')
  gate.open()
  await expect.poll(() => lost, { timeout: HANG_MS }).toEqual(['a'])
})

test('the server stops before it responds: the response is received, and not taken back', async () => {
  const { lost, entered, server, ask, hold, gate } = await startReplica()
  hold()
  const answers = Promise.all([ask('a'), ask('b')])
  await expect.poll(() => entered).toContain('b')
  const stopped = server.stop()
  await pause(NOTICE_MS)
  gate.open()
  expect(await answers).toEqual(['a', 'b'])
  await stopped
  await pause(TAKEN_BACK_MS)
  expect(lost).toEqual([])
})

test('a client of an earlier release ends its half at a stop: the response is not taken back', async () => {
  const { lost, entered, server, port, hold, gate } = await startReplica()
  hold()
  const client = new Client(`${HOST}:${port}`, credentials.createInsecure())
  onTestFinished(() => client.close())
  const metadata = new Metadata()
  metadata.set(SERVICE_TOKEN_HEADER, testIdentity('gateway').serviceToken('identity'))
  metadata.set(RECEIPTS_HEADER, '1')
  const { path, requestSerialize, responseDeserialize } = CallsService.carry
  const stream = client.makeBidiStreamRequest<CallRequest, CallResponse>(
    path,
    requestSerialize,
    responseDeserialize,
    metadata,
  )
  const received: number[] = []
  stream.on('data', ({ id, body }: CallResponse) => {
    if (body?.$case === 'notice' && body.value === Notice.NOTICE_LEAVING) stream.end()
    if (body?.$case === 'response') received.push(id)
  })
  const request = CheckSessionRequest.encode({ token: 'a' }).finish()
  stream.write({
    ...CallRequest.decode(Buffer.alloc(0)),
    id: 7,
    path: IdentityService.checkSession.path,
    request: Buffer.from(request),
  })
  await expect.poll(() => entered).toContain('a')
  const stopped = server.stop()
  await pause(NOTICE_MS)
  gate.open()
  await stopped
  expect(received).toEqual([7])
  await pause(TAKEN_BACK_MS)
  expect(lost).toEqual([])
})
