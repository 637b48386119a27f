import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { testIdentity } from '@windlass/testkit/service-identity'
import { ThrottledLink } from '@windlass/testkit/throttled-link'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/client.ts'
import { MultiplexedCall } from '../src/multiplexed-server.ts'
import { HOST, serveIdentity } from './identity-server.ts'

const HANG_MS = 30_000

/** A replica whose responses ask for receipts, behind a link that can stop like a suspended process. */
async function startReplica() {
  const lost: string[] = []
  const entered: string[] = []
  const gate = { open: () => {}, opened: Promise.resolve() }
  const { port } = await serveIdentity({
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
  return { lost, entered, link, client, ask, gate, hold }
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
