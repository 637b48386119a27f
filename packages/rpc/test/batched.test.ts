import { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import { allowAll, TEST_RPC_SECRET, testIdentity } from '@windlass/testkit/service-identity'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/client.ts'
import { PeerVersions } from '../src/peer-versions.ts'
import { RpcServer } from '../src/server.ts'
import { createServiceIdentity } from '../src/service-identity.ts'

const SILENT = pino({ level: 'silent' })
const HOST = '127.0.0.1'
/** More than one replica gets from a process before the next one does. */
const MANY = 40
const HANG_MS = 30_000

/** A replica of executions that started at a time; counts its calls, and answers them when `held` resolves. */
async function startReplica(startedMs: number) {
  const peers = new PeerVersions(SILENT, undefined, startedMs)
  onTestFinished(() => peers.close())
  const identity = { ...createServiceIdentity(TEST_RPC_SECRET, 'executions'), peers }
  const replica = { calls: 0, polls: 0, reads: 0, held: Promise.resolve(), load: 0, measured: 0 }
  const server = new RpcServer(SILENT, identity, () => {
    replica.measured++
    return replica.load
  })
  const methods = Object.keys(ExecutionsService).map((name) => [name, async () => ({})])
  const handlers = {
    ...Object.fromEntries(methods),
    async submit() {
      replica.calls++
      await replica.held
      return { results: [] }
    },
    async awaitWork() {
      replica.polls++
      return { leases: [], loads: [], more: false }
    },
    async get() {
      replica.reads++
      return { executions: [] }
    },
  }
  server.serve(ExecutionsService, handlers as never, allowAll(ExecutionsService))
  const port = await server.listen({ host: HOST, port: 0 }, [])
  onTestFinished(() => server.stop())
  return Object.assign(replica, { port, stop: () => server.stop() })
}

/** Replicas of which the second has run for the longest time, and a client that is connected to all. */
async function startThree() {
  const replicas = [await startReplica(2_000), await startReplica(1_000), await startReplica(3_000)]
  const addresses = replicas.map(({ port }) => `${HOST}:${port}`)
  const client = connect(ExecutionsService, addresses, testIdentity('dispatcher'))
  onTestFinished(() => client.close())
  const submit = () => client.submit({ commands: [] })
  const read = () => client.get({ execution_ids: [] })
  const poll = () =>
    client.awaitWork({ offers: [], wait_ms: 0 }, { answerNow: new AbortController().signal })
  const areConnected = async () => {
    await read()
    return replicas.every(({ reads }) => reads > 0)
  }
  await expect.poll(areConnected).toBe(true)
  const forget = () => {
    for (const one of replicas) Object.assign(one, { calls: 0, polls: 0, reads: 0 })
  }
  forget()
  /** Sends MANY commands at the same time, and answers how many of them each replica got. */
  const submitMany = async () => {
    forget()
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    for (const one of replicas) one.held = held
    const answers = Array.from({ length: MANY }, submit)
    await expect.poll(() => counts('calls').reduce((sum, each) => sum + each)).toBe(MANY)
    const got = counts('calls')
    answer()
    await Promise.all(answers)
    return got
  }
  const counts = (of: 'calls' | 'polls' | 'reads' | 'measured') => replicas.map((one) => one[of])
  return { replicas, submit, submitMany, read, poll, counts, forget }
}

test('commands one after another: all reach the replica that has run for the longest time', async () => {
  const { submit, counts } = await startThree()
  for (let i = 0; i < 10; i++) await submit()
  expect(counts('calls')).toEqual([0, 10, 0])
})

test('more commands at a time than one replica gets: the next one gets the rest', async () => {
  const { submitMany } = await startThree()
  expect(await submitMany()).toEqual([16, 16, 8])
})

test('the oldest replica is saturated: it gets fewer commands at a time, and 16 again when it is not', async () => {
  const { replicas, submitMany } = await startThree()
  const [, oldest] = replicas
  if (oldest) oldest.load = 1
  // One before the others have enough, and its third of what exceeds that.
  await expect.poll(async () => (await submitMany())[1], { timeout: HANG_MS }).toBeLessThan(5)
  if (oldest) oldest.load = 0.1
  await expect.poll(submitMany, { timeout: HANG_MS }).toEqual([16, 16, 8])
})

test('reads: go to all replicas in turn, and no load is measured', async () => {
  const { read, counts } = await startThree()
  for (let i = 0; i < 9; i++) await read()
  expect(counts('reads')).toEqual([3, 3, 3])
  // An idle process, which is asked for its health and its lists, is not woken to report its load.
  expect(counts('measured')).toEqual([0, 0, 0])
})

test('long polls for work: every second one goes in turn', async () => {
  const { poll, counts } = await startThree()
  for (let i = 0; i < 12; i++) await poll()
  expect(counts('polls')).toEqual([2, 8, 2])
})

test('the oldest replica stops: commands reach the next oldest, and no other', async () => {
  const { replicas, submit, counts, forget } = await startThree()
  await replicas[1]?.stop()
  forget()
  for (let i = 0; i < 10; i++) await submit()
  expect(counts('calls')).toEqual([10, 0, 0])
})
