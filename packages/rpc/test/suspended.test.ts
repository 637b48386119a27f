import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { testIdentity } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/client.ts'
import { HOST } from './identity-server.ts'

const HANG_MS = 60_000

/** A server in a process of its own, which prints its port, the worker of each session that it issues, and what it takes back. */
const PROGRAM = `
  import { pino } from 'pino'
  import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
  import { allowAll, testIdentity } from '@windlass/testkit/service-identity'
  import { RpcServer } from '${new URL('../src/server.ts', import.meta.url)}'
  const server = new RpcServer(pino({ level: 'silent' }), testIdentity('identity'))
  const issueSession = async ({ worker_name }) => {
    console.log(worker_name)
    return { token: worker_name }
  }
  const missing = async () => ({})
  const checkSession = async ({ token }, call) => {
    call.onLost?.(() => console.log('taken back ' + token))
    return { worker_name: token, session_id: '' }
  }
  const handlers = { checkBootstrap: missing, checkSession, issueSession }
  server.serve(IdentityService, handlers, allowAll(IdentityService))
  console.log(await server.listen({ host: '${HOST}', port: 0 }, []))
`

async function startServer() {
  const args = ['--conditions=windlass', '--import', 'tsx', '--input-type=module', '-e', PROGRAM]
  const cwd = new URL('..', import.meta.url)
  const server = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void server.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: server.stdout }).on('line', (line) => lines.push(line))
  await expect.poll(() => lines.length, { timeout: HANG_MS }).toBe(1)
  const client = connect(IdentityService, [`${HOST}:${lines[0]}`], testIdentity('gateway'))
  onTestFinished(() => client.close())
  const begin = (worker_name: string, timeoutMs: number) =>
    client.issueSession({ worker_name, session_id: '' }, { timeoutMs })
  return { server, client, begin, printed: () => lines.slice(1) }
}

test.for([
  ['on a stream', ''],
  ['on its own, with a large request', 'x'.repeat(200_000)],
] as const)(
  'a server is suspended, and a client abandons a call %s: the call does not begin when the server continues; others do',
  { timeout: HANG_MS },
  async ([, more]) => {
    const { server, begin, printed } = await startServer()
    await expect
      .poll(() => begin('connected', HANG_MS).then(({ token }) => token), { timeout: HANG_MS })
      .toBe('connected')
    server.kill('SIGSTOP')
    const waits = begin(`waits${more}`, HANG_MS)
    // Longer than the stall that a server notices.
    await expect(begin(`abandoned${more}`, 3_000)).rejects.toMatchObject({ kind: 'unavailable' })
    server.kill('SIGCONT')
    await waits
    // On the same connection, so the server has read everything before it.
    await begin('last', HANG_MS)
    await expect.poll(printed).toContain('last')
    const names = printed().map((name) => name.replace(more, ''))
    expect(names.filter((name) => name !== 'connected')).toEqual(['waits', 'last'])
  },
)

test('a client is busy beyond a deadline while the answer waits in its socket: the call succeeds', {
  timeout: HANG_MS,
}, async () => {
  const { begin } = await startServer()
  await expect
    .poll(() => begin('connected', HANG_MS).then(({ token }) => token), { timeout: HANG_MS })
    .toBe('connected')
  const answer = begin('answered', 500)
  await new Promise((resolve) => setImmediate(resolve))
  for (const end = performance.now() + 2_000; performance.now() < end; );
  expect((await answer).token).toBe('answered')
})

test('a client is suspended as soon as it has a response that hands something over: not taken back', {
  timeout: HANG_MS,
}, async () => {
  const { client, begin, printed } = await startServer()
  await expect
    .poll(() => begin('connected', HANG_MS).then(({ token }) => token), { timeout: HANG_MS })
    .toBe('connected')
  let token = ''
  // The server takes back what is not confirmed within a second, also if this machine is that slow.
  for (let wasFast = false; !wasFast; ) {
    token = `w${performance.now()}`
    const asked = performance.now()
    await client.checkSession({ token })
    wasFast = performance.now() - asked < 500
  }
  for (const end = performance.now() + 2_500; performance.now() < end; );
  await begin('last', HANG_MS)
  await expect.poll(printed).toContain('last')
  expect(printed()).not.toContain(`taken back ${token}`)
})
