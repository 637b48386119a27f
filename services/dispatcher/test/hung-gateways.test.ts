import { once } from 'node:events'
import { request } from 'node:http'
import { testIdentity } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { startDispatchers } from './dispatcher-fixture.ts'
import { anyRequirement } from './samples.ts'
import { openStream } from './worker-fake.ts'

const HANG_MS = 30_000

/** The beats of a gateway, which can stop. */
async function sendBeats(port: number, id: string) {
  const authorization = `Bearer ${testIdentity('gateway').serviceToken('dispatcher')}`
  const headers = { authorization, 'x-windlass-gateway': id }
  const beats = request({
    ...{ host: '127.0.0.1', port, path: '/beats', method: 'POST', agent: false, headers },
  })
  beats.on('error', () => {})
  beats.write('.')
  const state = { isBeating: true }
  const timer = setInterval(() => state.isBeating && beats.write('.'), 100)
  onTestFinished(() => {
    clearInterval(timer)
    beats.destroy()
  })
  await once(beats, 'response')
  const acknowledge = (text: string) => beats.write(text)
  return { state, acknowledge, close: () => beats.destroy() }
}

/** A dispatcher with two workers, each behind a gateway of its own. */
async function setUp() {
  const system = await startDispatchers()
  const { register, streams, executions, name } = system
  const join = async (gateway: string) => {
    const worker = name()
    const labels = { gateway }
    const { session_id } = await register({ name: worker, labels, max_concurrent_executions: 9 })
    const stream = await openStream(streams, worker, session_id, { gateway })
    const frames = () => stream.frames.filter(({ event }) => event === 'execution_scheduled')
    return { name: worker, stream, frames, gateway: await sendBeats(streams, gateway) }
  }
  const [a, b] = [await join('a'), await join('b')]
  const requirement = executions.require(anyRequirement)
  const released = () =>
    executions.commands.flatMap(({ execution_id, body }) =>
      body?.$case === 'release'
        ? [{ execution_id, unclaimed_only: body.value.unclaimed_only }]
        : [],
    )
  const offered = () => executions.offered
  // The long poll begins with a requirement that is known.
  executions.queue(requirement)
  system.publishReady(requirement)
  await expect.poll(offered, { timeout: HANG_MS }).toEqual(expect.arrayContaining([a.name, b.name]))
  return { ...system, a, b, released, offered }
}

test('a gateway hangs: its workers are not offered until it beats again', async () => {
  const { a, b, offered } = await setUp()
  a.gateway.state.isBeating = false
  await expect.poll(offered, { timeout: HANG_MS }).toEqual([b.name])
  a.gateway.state.isBeating = true
  await expect.poll(offered, { timeout: HANG_MS }).toContain(a.name)
})

test('a gateway hangs after a frame: the lease is released unless it is claimed', async () => {
  const { a, executions, released } = await setUp()
  a.gateway.state.isBeating = false
  const lease = executions.assign(a.name)
  await expect
    .poll(released, { timeout: HANG_MS })
    .toContainEqual({ execution_id: lease?.execution_id, unclaimed_only: true })
})

/** Assigns an execution to a worker, and waits for its frame. */
async function deliver({ executions, a }: Awaited<ReturnType<typeof setUp>>) {
  let execution_id = ''
  const isAssigned = () => {
    execution_id ||= executions.assign(a.name)?.execution_id ?? ''
    return execution_id !== '' && a.stream.text().includes(execution_id)
  }
  await expect.poll(isAssigned, { timeout: HANG_MS }).toBe(true)
  return { execution_id, bytes: Buffer.byteLength(a.stream.text()) }
}

test('a gateway hangs after two frames, of which one has arrived: only the other is released', async () => {
  const system = await setUp()
  const { a, released } = system
  const generation = a.stream.headers['x-windlass-connection-generation']
  const first = await deliver(system)
  a.gateway.acknowledge(`.${generation} ${first.bytes} ${a.name}\n`)
  const { execution_id } = await deliver(system)
  a.gateway.state.isBeating = false
  await expect
    .poll(released, { timeout: HANG_MS })
    .toContainEqual({ execution_id, unclaimed_only: true })
  const ids = released().map((one) => one.execution_id)
  expect(ids).not.toContain(first.execution_id)
})

test('a gateway stops: a stream ends after the frames that were sent; that of a later one stays', async () => {
  const system = await setUp()
  const { a, b } = system
  const generation = a.stream.headers['x-windlass-connection-generation']
  b.gateway.acknowledge(`leave 0 ${b.name}\n`)
  const { execution_id } = await deliver(system)
  a.gateway.acknowledge(`.leave ${generation} ${a.name}\n`)
  await expect.poll(() => a.stream.ended, { timeout: HANG_MS }).toBe(true)
  expect(a.stream.reason()).toBe('gateway_stopping')
  expect(a.stream.text()).toContain(execution_id)
  expect(b.stream.ended).toBe(false)
})

test('an acknowledgement of an earlier stream of the worker: its frame is released', async () => {
  const system = await setUp()
  const { a, released } = system
  const { execution_id, bytes } = await deliver(system)
  a.gateway.acknowledge(`0 ${bytes} ${a.name}\n`)
  a.gateway.state.isBeating = false
  await expect
    .poll(released, { timeout: HANG_MS })
    .toContainEqual({ execution_id, unclaimed_only: true })
})

test('a lease for a worker whose gateway hangs: released, no frame is sent', async () => {
  const { a, executions, publishReady, released, logged } = await setUp()
  const onlyA = executions.require({ ...anyRequirement, affinity: { gateway: 'a' } })
  let answer = () => {}
  executions.leaseDelay = new Promise<void>((resolve) => {
    answer = resolve
  })
  const { execution_id } = executions.queue(onlyA)
  publishReady(onlyA)
  const isLeased = () =>
    executions.held.get(a.name)?.some((one) => one.execution_id === execution_id)
  await expect.poll(isLeased, { timeout: HANG_MS }).toBe(true)
  const before = a.frames().length
  a.gateway.state.isBeating = false
  await expect.poll(logged, { timeout: HANG_MS }).toContain('gateway hangs')
  answer()
  await expect
    .poll(released, { timeout: HANG_MS })
    .toContainEqual({ execution_id, unclaimed_only: true })
  expect(a.frames()).toHaveLength(before)
})

test('no gateway beats: none is taken for hung until one does', async () => {
  const { a, b, offered, logged } = await setUp()
  a.gateway.state.isBeating = false
  b.gateway.state.isBeating = false
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  expect(logged()).not.toContain('gateway hangs')
  b.gateway.state.isBeating = true
  await expect.poll(offered, { timeout: HANG_MS }).toEqual([b.name])
})

test('a gateway closes its beats: its workers are offered', async () => {
  const { a, offered } = await setUp()
  a.gateway.state.isBeating = false
  await expect.poll(offered, { timeout: HANG_MS }).not.toContain(a.name)
  a.gateway.close()
  await expect.poll(offered, { timeout: HANG_MS }).toContain(a.name)
})

test('a gateway of an earlier release, without beats: its workers are offered', async () => {
  const { register, streams, name, offered } = await setUp()
  const worker = name()
  const { session_id } = await register({ name: worker })
  await openStream(streams, worker, session_id)
  await expect.poll(offered, { timeout: HANG_MS }).toContain(worker)
})
