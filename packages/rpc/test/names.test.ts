import { promises as dns } from 'node:dns'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { testIdentity } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../src/client.ts'
import { serveIdentity } from './identity-server.ts'

const NAME = 'identity.test'
const HOSTS = ['127.0.0.2', '127.0.0.3', '127.0.0.4']

/** Lets `identity.test` stand for these addresses until the test ends. */
function answerName(hosts: readonly string[]) {
  const lookup = async () => hosts.map((address) => ({ address, family: 4 }))
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(lookup as never)
  onTestFinished(() => spy.mockRestore())
}

const serve = (host: string, port = 0) =>
  serveIdentity(
    { checkSession: async () => ({ worker_name: host, session_id: '' }) },
    { port, host },
  )

async function startReplicas() {
  const first = await serve(HOSTS[0] ?? '')
  const others = await Promise.all(HOSTS.slice(1).map((host) => serve(host, first.port)))
  answerName(HOSTS)
  const client = connect(IdentityService, [`${NAME}:${first.port}`], testIdentity('gateway'))
  onTestFinished(() => client.close())
  const ask = async (token = '') => (await client.checkSession({ token })).worker_name
  return { ask, servers: [first, ...others].map(({ server }) => server) }
}

test('one name with three addresses: calls go to every replica', async () => {
  const { ask } = await startReplicas()
  const round = async () => new Set(await Promise.all(HOSTS.map(() => ask())))
  await expect.poll(round).toEqual(new Set(HOSTS))
})

test('a replica behind the name is gone: the others answer, also large requests', async () => {
  const { ask, servers } = await startReplicas()
  const round = async () => new Set(await Promise.all(HOSTS.map(() => ask())))
  await expect.poll(round).toEqual(new Set(HOSTS))
  await servers[0]?.stop()
  for (const token of ['', 'x'.repeat(100_000)])
    for (let i = 0; i < 6; i++) expect(await ask(token)).toBeOneOf(HOSTS.slice(1))
})
