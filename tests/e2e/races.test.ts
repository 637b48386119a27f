import { expect, test } from 'vitest'
import { CLAIMS_BY_DELIVERY, repeatUntilDelivered } from './delivered-frame.ts'
import {
  eventTypes,
  executionFixture,
  expectOk,
  expectStaleClaim,
  HANG_MS,
  ROUNDS,
  repeat,
  sharedSystem,
  TWO_OF_EACH,
} from './execution-fixture.ts'

const PATIENT = { timeout: 600_000 }
const system = sharedSystem({ replicas: TWO_OF_EACH })

const ENDS = ['WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED']

test('E7: cancel answered before a claim: no later claim succeeds', PATIENT, async () => {
  const a = await executionFixture(system(), 2)
  const outcomes = { 'cancelled first': 0, 'claimed first': 0, 'before the frame': 0 }
  await repeat(async (n) => {
    const id = await a.run()
    // One third cancels before the frame can arrive; the others race with the claim.
    if (n % 3 === 0) {
      expect(expectOk(await a.cancel(id, a.two)).state).toBe('CANCELLED')
      for (const worker of a.workers) expect((await worker.claim(id)).status).toBe(409)
      outcomes['before the frame']++
      return
    }
    const [holder] = await a.waitForLease(id)
    const [cancelled, claimed] = await Promise.all([
      a.cancel(id, n % 2 === 0 ? a.one : a.two),
      holder.claim(id),
    ])
    const { state } = expectOk(cancelled)
    if (state === 'CANCELLED') {
      expect(claimed.status).toBe(409)
      expectStaleClaim(await holder.complete(id, 1))
      outcomes['cancelled first']++
    } else {
      expect([state, claimed.status]).toEqual(['CANCELLING', 200])
      expectOk(await holder.checkpoint(id, { state: 'CANCELLED', generation: 1 }))
      outcomes['claimed first']++
    }
    expect((await a.read(id, a.two)).state).toBe('CANCELLED')
  })
  expect(Object.values(outcomes).reduce((sum, count) => sum + count)).toBe(ROUNDS)
})

test(
  'E8: cancel races completion: the execution ends once, and the cancel reports the true end',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 2)
    const outcomes = new Map<string, number>()
    await repeat(async (n) => {
      const id = await a.run()
      const [holder] = await a.waitForLease(id)
      const generation = await holder.claimGeneration(id)
      const [cancelled, completed] = await Promise.all([
        a.cancel(id, n % 2 === 0 ? a.two : a.one),
        holder.complete(id, generation),
      ])
      expectOk(completed)
      const known = await a.read(id, a.two)
      expect(known).toMatchObject({ state: 'COMPLETED', output: 'done' })
      const asked = eventTypes(known).includes('WORKFLOW_CANCELLING')
      if (asked) expect(expectOk(cancelled).state).toBe('CANCELLING')
      else
        expect([cancelled.status, cancelled.json.detail]).toEqual([
          400,
          'Cannot cancel a finished execution.',
        ])
      expect(eventTypes(known).filter((type) => ENDS.includes(type))).toEqual([
        'WORKFLOW_COMPLETED',
      ])
      outcomes.set(String(cancelled.status), (outcomes.get(String(cancelled.status)) ?? 0) + 1)
    })
  },
)

test(
  'E8: resume races resume: exactly one returns 200, and the worker gets its body',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 2)
    await repeat(async () => {
      const id = await a.run()
      const [holder] = await a.waitForLease(id)
      expectOk(await holder.pause(id, await holder.claimGeneration(id)))
      const bodies = ['1', '2', '3', '4']
      const answers = await Promise.all(
        bodies.map((body, i) => a.resume(id, body, i % 2 === 0 ? a.one : a.two)),
      )
      const winners = bodies.filter((_, i) => answers[i]?.status === 200)
      expect(winners).toHaveLength(1)
      for (const { status, json } of answers)
        if (status !== 200) {
          expect(status).toBe(409)
          expect(json.detail).toMatch(
            /^Cannot resume an execution in state 'RESUM\w+'; it is not paused/,
          )
        }
      const given = await a.waitForFrame(id, 'execution_resumed')
      const delivered = given.data.context.events.filter(
        ({ type }: { type: string }) => type === 'WORKFLOW_RESUMING',
      )
      expect(delivered.map(({ value }: { value: unknown }) => String(value))).toEqual(winners)
      expectOk(await given.holder.complete(id, await given.holder.claimGeneration(id)))
    })
  },
)

test(
  'E8: approve races cancel: exactly the requests answered 200 are in the log',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 2)
    const outcomes = new Set<string>()
    await repeat(async (n) => {
      const id = await a.run()
      const [holder] = await a.waitForLease(id)
      const generation = await holder.claimGeneration(id)
      const task_call_id = `pay_${id.slice(0, 16)}`
      const question = JSON.stringify({ task_call_id, task_name: 'pay' })
      expectOk(await holder.post(`approvals/${id}`, { body: question }))
      const gate = `{"name":"approval:${task_call_id}","output":null}`
      const events = [{ type: 'WORKFLOW_PAUSED', value: gate }]
      expectOk(await holder.checkpoint(id, { state: 'PAUSED', events, generation }))
      const path = `/executions/${id}/approvals/${task_call_id}/approve`
      const [approved, cancelled] = await Promise.all([
        a.send('POST', path, '{}', n % 2 === 0 ? a.one : a.two),
        a.cancel(id, a.two),
      ])
      expect(expectOk(cancelled).state).toBe('CANCELLED')
      const known = await a.read(id)
      expect(known.state).toBe('CANCELLED')
      const { approvals } = expectOk(await a.send('GET', `/executions/${id}/approvals`))
      expect(approvals).toHaveLength(1)
      // No decision is logged after the end.
      expect(eventTypes(known).at(-1)).toBe('WORKFLOW_CANCELLED')
      const isApproved = approved.status === 200
      expect(approvals[0].status).toBe(isApproved ? 'approved' : 'cancelled')
      expect(eventTypes(known).filter((type) => type === 'TASK_APPROVED')).toHaveLength(
        isApproved ? 1 : 0,
      )
      if (!isApproved)
        expect(approved.json).toMatchObject({
          error: 'already_decided',
          current_status: 'cancelled',
        })
      outcomes.add(String(approved.status))
    })
    expect([...outcomes].every((status) => status === '200' || status === '409')).toBe(true)
  },
)

test('E2: same idempotency key at two gateways: one execution', PATIENT, async () => {
  const a = await executionFixture(system())
  const headers = { 'idempotency-key': `key ${a.pool}` }
  const ids = new Set<string>()
  await repeat(async (n) => {
    const url = n % 2 === 0 ? a.one : a.two
    const answers = await Promise.all([
      a.requestRun('{"a":1}', { url, headers: { 'idempotency-key': `${a.pool}-${n}` } }),
      a.requestRun('{"a":1}', { url: a.two, headers: { 'idempotency-key': `${a.pool}-${n}` } }),
      a.requestRun('{"a":1}', { url: a.one, headers }),
    ])
    const [first, second, third] = answers.map((answer) => expectOk(answer).execution_id as string)
    expect(first).toBe(second)
    ids.add(third ?? '')
  })
  expect(ids.size).toBe(1)
  expect(await a.listAll()).toHaveLength(ROUNDS + 1)
  const other = await a.requestRun('{"a":2}', { headers })
  expect(other.status).toBe(422)
  expect(other.json.detail[0].loc).toEqual(['header', 'Idempotency-Key'])
  expect(await a.listAll(a.two)).toHaveLength(ROUNDS + 1)
})

test(
  'C1: two streams of one worker name at any dispatchers: the newer one gets the work',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const worker = await a.startWorker()
    await repeat(
      async (n) => {
        const older = worker.stream
        await worker.connect({ url: n % 2 === 0 ? a.two : a.one })
        await expect.poll(() => older.ended, { timeout: HANG_MS, interval: 5 }).toBe(true)
        const id = await a.run()
        expectOk(await worker.complete(id, await worker.awaitAndClaim(id)))
      },
      Math.ceil(ROUNDS / 10),
    )
    expect(worker.frames).toEqual([])
  },
)

test(
  'C2, C9: release races the first checkpoint: its events are logged if it is accepted',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const worker = await a.startWorker(CLAIMS_BY_DELIVERY)
    const outcomes = { accepted: 0, refused: 0 }
    await repeat(async (n) => {
      const { execution_id: id, generation } = await repeatUntilDelivered(a, async () =>
        worker.nextFrame('execution_scheduled', await a.run()),
      )
      const [url, other] = n % 2 === 0 ? [a.one, a.two] : [a.two, a.one]
      const report = { state: 'RUNNING', events: [{ type: 'TASK_STARTED' }], generation }
      const [released, first] = await Promise.all([
        worker.release(id, generation, { url }),
        worker.checkpoint(id, report, { url: other }),
      ])
      expectOk(released)
      const isAccepted = first.status === 200
      if (!isAccepted) expectStaleClaim(first)
      outcomes[isAccepted ? 'accepted' : 'refused']++
      const { data } = await worker.nextFrame('execution_scheduled', id)
      expectStaleClaim(
        await worker.checkpoint(id, { ...report, events: [{ type: 'TASK_PAUSED' }] }),
      )
      expectOk(
        await worker.complete(id, data.claim?.generation ?? (await worker.claimGeneration(id))),
      )
      const claimed = isAccepted ? ['WORKFLOW_CLAIMED', 'TASK_STARTED'] : []
      expect(eventTypes(await a.read(id, a.two))).toEqual([
        'WORKFLOW_SCHEDULED',
        ...claimed,
        'WORKFLOW_SCHEDULED',
        'WORKFLOW_CLAIMED',
        'WORKFLOW_COMPLETED',
      ])
    })
    console.info(`release against first checkpoint: ${JSON.stringify(outcomes)}`)
  },
)
