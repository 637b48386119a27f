import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { Readiness } from '@windlass/runtime/admin/readiness'
import { Settings } from '@windlass/runtime/config/settings'
import { Teardown } from '@windlass/runtime/process/teardown'
import { createAuthority } from '@windlass/testkit/certificates'
import { exposeMetrics } from '@windlass/testkit/exposed-metrics'
import { allowAll } from '@windlass/testkit/service-identity'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/client.ts'
import { RpcServer } from '../src/server.ts'
import { openServiceIdentity } from '../src/service-identity.ts'

const HANG_MS = 30_000
const PROBLEM = 'windlass_problems{problem="certificate"'
const SECRET = 'one secret of the cluster, long enough'

type Authority = Awaited<ReturnType<typeof createAuthority>>

/** A process whose certificate for other services is that of `files`. */
async function processOf(
  service: string,
  authority: Authority,
  files: Awaited<ReturnType<Authority['issue']>>,
) {
  const lines: { level: number; problem?: string; msg: string }[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const readiness = new Readiness()
  const teardown = new Teardown(log)
  onTestFinished(() => teardown.run())
  const rpc = {
    secret: SECRET,
    tls_ca: authority.caFile,
    tls_cert: files.certFile,
    tls_key: files.keyFile,
    tls_server_name: 'localhost',
  }
  const runtime = { log, readiness, teardown }
  const identity = await openServiceIdentity(Settings.parse({ rpc }), service, runtime)
  readiness.setServing()
  return { identity, readiness, lines }
}

test('the certificate between services expires and is replaced: calls, readiness, log, metric', async () => {
  const metric = exposeMetrics()
  const authority = await createAuthority()
  const { identity, readiness, lines } = await processOf(
    'identity',
    authority,
    await authority.issue('localhost', -1_000),
  )
  const server = new RpcServer(pino({ level: 'silent' }), identity)
  const handlers = { checkSession: async () => ({ worker_name: 'w' }) }
  server.serve(IdentityService, handlers as never, allowAll(IdentityService))
  const port = await server.listen({ host: '127.0.0.1', port: 0 }, [])
  onTestFinished(() => server.stop())
  const gateway = await processOf('gateway', authority, await authority.issue('client'))
  const client = connect(IdentityService, [`127.0.0.1:${port}`], gateway.identity)
  onTestFinished(() => client.close())
  const call = () => client.checkSession({ token: 'x' }, { timeoutMs: 1_000 })

  await expect(call()).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await readiness.report()).toMatchObject({ failing: ['rpc certificate'] })
  const problem = {
    level: 50,
    problem: 'certificate',
    msg: expect.stringMatching(/svc.rpc.*expired/),
  }
  expect(lines).toContainEqual(expect.objectContaining(problem))
  expect(await metric(PROBLEM)).toBe(1)

  await authority.issue('localhost')
  await expect.poll(() => readiness.report(), { timeout: HANG_MS }).toEqual({ status: 'ready' })
  expect(lines.at(-1)).toMatchObject({ level: 30, problem: 'certificate' })
  expect(await metric(PROBLEM)).toBe(0)
  const answered = async () => (await call().catch(() => undefined))?.worker_name
  await expect.poll(answered, { timeout: HANG_MS }).toBe('w')
})

test('a client with a certificate of another authority: refused, even after its files have changed', async () => {
  const authority = await createAuthority()
  const { identity } = await processOf('identity', authority, await authority.issue('localhost'))
  const server = new RpcServer(pino({ level: 'silent' }), identity)
  const handlers = { checkSession: async () => ({ worker_name: 'w' }) }
  server.serve(IdentityService, handlers as never, allowAll(IdentityService))
  const port = await server.listen({ host: '127.0.0.1', port: 0 }, [])
  onTestFinished(() => server.stop())
  const other = await createAuthority()
  const callAs = async (files: Awaited<ReturnType<Authority['issue']>>, timeoutMs = HANG_MS) => {
    const gateway = await processOf('gateway', authority, files)
    const client = connect(IdentityService, [`127.0.0.1:${port}`], gateway.identity)
    onTestFinished(() => client.close())
    return client.checkSession({ token: 'x' }, { timeoutMs })
  }
  const refused = { kind: 'unavailable' }
  expect(await callAs(await authority.issue('client'))).toMatchObject({ worker_name: 'w' })
  await expect(callAs(await other.issue('client'), 2_000)).rejects.toMatchObject(refused)
  await authority.issue('localhost')
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  await expect(callAs(await other.issue('client'), 2_000)).rejects.toMatchObject(refused)
  expect(await callAs(await authority.issue('client'))).toMatchObject({ worker_name: 'w' })
})
