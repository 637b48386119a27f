import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { testIdentity } from '@windlass/testkit/service-identity'
import { ThrottledLink } from '@windlass/testkit/throttled-link'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/client.ts'
import { MultiplexedCall } from '../src/multiplexed-server.ts'
import { HOST, serveIdentity } from './identity-server.ts'

const LARGE = 'x'.repeat(100_000)

/** A replica that answers its name, behind a link that can stop like a suspended process. */
async function startReplica(name: string) {
  const calls = { onStream: 0, issued: 0 }
  const { port } = await serveIdentity({
    async checkSession(_, call) {
      if (call instanceof MultiplexedCall) calls.onStream++
      return { worker_name: name, session_id: '' }
    },
    async issueSession() {
      calls.issued++
      return { token: name }
    },
  })
  const link = await ThrottledLink.to(port)
  onTestFinished(() => link.close())
  return { name, link, calls }
}

async function startTwo() {
  const [a, b] = [await startReplica('a'), await startReplica('b')]
  const addresses = [a, b].map(({ link }) => `${HOST}:${link.port}`)
  const client = connect(IdentityService, addresses, testIdentity('gateway'))
  onTestFinished(() => client.close())
  const ask = async (token = '') => (await client.checkSession({ token })).worker_name
  await expect
    .poll(async () => {
      await ask()
      return a.calls.onStream > 0 && b.calls.onStream > 0
    })
    .toBe(true)
  return { a, b, client, ask }
}

test('a replica hangs: calls that are safe to repeat are answered by another one', async () => {
  const { a, ask } = await startTwo()
  a.link.stop()
  for (let i = 0; i < 10; i++) expect(await ask()).toBe('b')
})

test('a replica hangs: large requests are answered by another one', async () => {
  const { a, ask } = await startTwo()
  a.link.stop()
  for (let i = 0; i < 4; i++) expect(await ask(LARGE)).toBe('b')
})

test('a hung replica continues: it is called again', async () => {
  const { a, ask } = await startTwo()
  a.link.stop()
  expect(await Promise.all([ask(), ask()])).toEqual(['b', 'b'])
  a.link.resume()
  await expect.poll(() => ask(), { interval: 5 }).toBe('a')
})

test('all replicas hang: their calls wait and are answered when one continues', async () => {
  const { a, b, ask } = await startTwo()
  a.link.stop()
  b.link.stop()
  const answers = Promise.all([ask(), ask(), ask()])
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  b.link.resume()
  expect(await answers).toContain('b')
})

test('a replica hangs, calls that are not safe to repeat: sent to one replica only', async () => {
  const { a, b, client, ask } = await startTwo()
  a.link.stop()
  const request = { worker_name: 'w', session_id: '', is_bootstrap: false } as never
  const issuing = [client.issueSession(request), client.issueSession(request)]
  await ask()
  await ask()
  a.link.resume()
  await Promise.allSettled(issuing)
  expect(a.calls.issued + b.calls.issued).toBe(2)
})
