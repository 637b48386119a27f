import { ANONYMOUS_CALLER, type Caller } from '@windlass/domain/caller'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { Fault } from '@windlass/runtime/faults'
import { Colocation } from '@windlass/runtime/process/colocation'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { CallOptions, Handlers } from '../src/call.ts'
import { connect } from '../src/client.ts'
import { allow, allowOnBehalfOf } from '../src/policy.ts'
import { RpcServer } from '../src/server.ts'
import { createServiceIdentity, type ServiceIdentity } from '../src/service-identity.ts'

const SECRET = 'a secret of this test alone'
const CALLER: Caller = { subject: 'ada', issuer: 'https://issuer.example' }
/** Nothing listens here: a call that used a connection would fail. */
const NOWHERE = '127.0.0.1:1'
const HANG_MS = 30_000

type IdentityHandlers = Handlers<typeof IdentityService>

const ACCESS = {
  checkSession: allow('gateway'),
  issueSession: allowOnBehalfOf('gateway'),
  checkBootstrap: allow('scheduler'),
}

const HANDLERS: IdentityHandlers = {
  async checkBootstrap() {
    return { configured: true, valid: true }
  },
  async issueSession(_, { caller, service, requestId }) {
    return { token: [service, caller?.subject, caller?.issuer, requestId].join(' ') }
  },
  async checkSession({ token }) {
    if (token === 'fault') throw new Fault('conflict', 'as thrown', { details: { a: 1 } })
    if (token === 'bug') throw new Error('select * from secrets')
    return { worker_name: token, session_id: '' }
  },
}

interface TestServer {
  colocation: Colocation | undefined
  listen(): Promise<string>
  stop(): Promise<void>
  lines: string[]
}

/** A server of identity that shares a process with its callers, or has one of its own. */
function createServer(isLocal: boolean, handlers: Partial<IdentityHandlers> = {}): TestServer {
  const colocation = isLocal ? new Colocation(['gateway', 'identity']) : undefined
  const identity = createServiceIdentity(SECRET, 'identity')
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const server = new RpcServer(log, { ...identity, ...(colocation && { colocation }) })
  server.serve(IdentityService, { ...HANDLERS, ...handlers }, ACCESS)
  const stop = () => server.stop()
  return {
    colocation,
    lines,
    stop,
    async listen() {
      const port = await server.listen({ host: '127.0.0.1', port: 0 }, [])
      onTestFinished(stop)
      return colocation ? NOWHERE : `127.0.0.1:${port}`
    },
  }
}

function clientOf(
  { colocation }: TestServer,
  address: string,
  own: ServiceIdentity = createServiceIdentity(SECRET, 'gateway'),
) {
  const client = connect(IdentityService, [address], { ...own, ...(colocation && { colocation }) })
  onTestFinished(() => client.close())
  return client
}

const gateway = createServiceIdentity(SECRET, 'gateway')
const intruder = createServiceIdentity('a secret that was guessed', 'gateway')
/** A gateway that signs callers for another rpc than the one it calls. */
const misusing: ServiceIdentity = {
  ...gateway,
  signCaller: (caller, to) => gateway.signCaller(caller, to, IdentityService.checkSession.path),
}

type Client = ReturnType<typeof clientOf>

const calls: { name: string; call: (client: Client) => Promise<unknown>; as?: ServiceIdentity }[] =
  [
    { name: 'allowed rpc', call: (client) => client.checkSession({ token: 'x' }) },
    { name: 'rpc of another service', call: (client) => client.checkBootstrap({ token: 'x' }) },
    { name: 'no caller where one is required', call: (client) => client.issueSession(SESSION) },
    { name: 'caller', call: (client) => client.issueSession(SESSION, ON_BEHALF) },
    {
      name: 'caller of another rpc',
      as: misusing,
      call: (c) => c.issueSession(SESSION, ON_BEHALF),
    },
    { name: 'wrong key', as: intruder, call: (client) => client.checkSession({ token: 'x' }) },
    { name: 'fault', call: (client) => client.checkSession({ token: 'fault' }) },
    { name: 'defect', call: (client) => client.checkSession({ token: 'bug' }) },
  ]
const SESSION = { worker_name: 'w', caller: ANONYMOUS_CALLER } as never
const ON_BEHALF: CallOptions = { caller: CALLER, requestId: 'r1' }

/** Answer, or the refusal as the caller sees it. */
const outcomeOf = (promise: Promise<unknown>) =>
  promise.then(
    (answer) => ({ answer }),
    ({ name, kind, message, details }) => ({ refused: { name, kind, message, details } }),
  )

describe('a call to a service of the same process', () => {
  test.each(calls)('$name: answered as a call over a connection is', async ({ call, as }) => {
    const [remote, local] = [createServer(false), createServer(true)]
    const overConnection = await outcomeOf(call(clientOf(remote, await remote.listen(), as)))
    const inProcess = await outcomeOf(call(clientOf(local, await local.listen(), as)))
    expect(inProcess).toEqual(overConnection)
  })

  test('allowed and refused calls: a caller is known, refusals are logged', async () => {
    const serving = createServer(true)
    const client = clientOf(serving, await serving.listen())
    expect(await client.issueSession(SESSION, ON_BEHALF)).toEqual({
      token: 'gateway ada https://issuer.example r1',
    })
    expect(await outcomeOf(client.checkBootstrap({ token: 'x' }))).toHaveProperty('refused')
    expect(serving.lines).toEqual([expect.stringContaining('service not allowed')])
  })

  test('service that is still starting: waited for', async () => {
    const serving = createServer(true)
    const waiting = clientOf(serving, NOWHERE).checkSession({ token: 'early' })
    await serving.listen()
    expect(await waiting).toMatchObject({ worker_name: 'early' })
  })

  test('stopped service: running call answered, later call unavailable', async () => {
    let finish: () => void = () => {}
    let isRunning = false
    const serving = createServer(true, {
      async checkSession({ token }) {
        isRunning = true
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return { worker_name: token, session_id: '' }
      },
    })
    await serving.listen()
    const client = clientOf(serving, NOWHERE)
    const running = client.checkSession({ token: 'last' })
    await expect.poll(() => isRunning, { timeout: HANG_MS }).toBe(true)
    const stopping = serving.stop()
    const late = client.checkSession({ token: 'late' })
    await expect(late).rejects.toMatchObject({ kind: 'unavailable' })
    finish()
    expect(await running).toMatchObject({ worker_name: 'last' })
    await stopping
  })

  test.each(['deadline', 'abort'])('%s: unavailable; the response is taken back', async (way) => {
    const seen: string[] = []
    let finish: () => void = () => {}
    const serving = createServer(true, {
      async checkSession({ token }, call) {
        seen.push('started')
        call.onLost(() => seen.push('taken back'))
        call.signal.addEventListener('abort', () => seen.push('cancelled'))
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return { worker_name: token, session_id: '' }
      },
    })
    const client = clientOf(serving, await serving.listen())
    const leaving = new AbortController()
    const options = way === 'abort' ? { signal: leaving.signal } : { timeoutMs: 500 }
    const answer = outcomeOf(client.checkSession({ token: 'x' }, options))
    await expect.poll(() => seen, { timeout: HANG_MS }).toContain('started')
    leaving.abort()
    expect(await answer).toMatchObject({ refused: { kind: 'unavailable' } })
    expect(seen).toEqual(['started', 'cancelled'])
    finish()
    await expect.poll(() => seen, { timeout: HANG_MS }).toContain('taken back')
  })

  test('request for an early answer: the handler gives what it has', async () => {
    const serving = createServer(true, {
      async checkSession(_, { answerNow }) {
        await new Promise((resolve) => answerNow.addEventListener('abort', resolve))
        return { worker_name: 'early', session_id: '' }
      },
    })
    const client = clientOf(serving, await serving.listen())
    const requesting = new AbortController()
    const answer = client.checkSession({ token: 'x' }, { answerNow: requesting.signal })
    setTimeout(() => requesting.abort(), 20)
    expect(await answer).toMatchObject({ worker_name: 'early' })
  })
})
