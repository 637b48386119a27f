import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { LogGrew } from '@windlass/proto/windlass/signals/v1/signals'
import { expect, test, vi } from 'vitest'
import { Replies } from './replies.ts'
import { changeAndWait, type LiveDeps } from './wait-until-settled.ts'

const row = (state: string, last_seq: number) =>
  ({ execution_id: 'e1', state, last_seq, input_json: '1' }) as Execution

const grew = (state: string, last_seq: number) => {
  const ended = { ...row(state, last_seq), worker_name: '', worker_session: '' }
  const whole = { workflow_id: '', workflow_namespace: '', workflow_name: '', workflow_version: 1 }
  const times = { created_at: undefined, updated_at: undefined, claim_generation: 1 }
  const message = { execution_id: 'e1', state, last_seq, entries: [], omitted: false }
  return LogGrew.encode({ ...message, ended: { ...ended, ...whole, ...times } }).finish()
}

function setup(rows: Execution[] = []) {
  const heard = new Map<string, (bytes: Uint8Array) => void>()
  const replies = new Replies({
    subscribeBestEffort(subject, hear) {
      heard.set(subject, (bytes) => hear(bytes, subject))
      return { confirmed: async () => {}, stop: () => {} }
    },
  })
  const stop = vi.fn()
  const subscribe = vi.fn(async () => stop)
  const get = vi.fn(async () => rows.shift())
  const deps = { executions: { get }, subscriptions: { replies, settled: { subscribe } } }
  const signal = (bytes: Uint8Array) =>
    heard.get(`executions.${replies.name}.events.reply`)?.(bytes)
  const wait = (change: () => Promise<{ execution: Execution; reply_to?: string }>) =>
    changeAndWait(deps as unknown as LiveDeps, {
      execution_id: 'e1',
      change,
      isDone: (state) => state === 'COMPLETED',
      timeoutMs: undefined,
      signal: new AbortController().signal,
    })
  return { replies, wait, signal, subscribe, stop, get }
}

test('an execution with the name of this process: no subscription and no read for its end', async () => {
  const { replies, wait, signal, subscribe, get } = setup()
  const waiting = wait(async () => ({ execution: row('SCHEDULED', 1), reply_to: replies.name }))
  await Promise.resolve()
  signal(grew('COMPLETED', 5))
  expect(await waiting).toMatchObject({ state: 'COMPLETED', last_seq: 5, input_json: '1' })
  expect(subscribe).not.toHaveBeenCalled()
  expect(get).not.toHaveBeenCalled()
})

test('an end that is signalled before the change is answered: found', async () => {
  const { replies, wait, signal } = setup()
  const answer = wait(async () => {
    signal(grew('COMPLETED', 5))
    return { execution: row('SCHEDULED', 1), reply_to: replies.name }
  })
  expect(await answer).toMatchObject({ state: 'COMPLETED', last_seq: 5 })
})

test.each([undefined, 'another'])(
  'an execution with the name %s: subscribed and read',
  async (reply_to) => {
    const { wait, subscribe, stop, get } = setup([row('COMPLETED', 5)])
    const answer = await wait(async () => ({ execution: row('RESUMING', 1), reply_to }))
    expect(answer).toMatchObject({ state: 'COMPLETED', last_seq: 5 })
    expect([subscribe, get, stop].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1])
  },
)

test('an execution of another process that is done: answered without a subscription', async () => {
  const { wait, subscribe } = setup()
  const answer = await wait(async () => ({ execution: row('COMPLETED', 5), reply_to: 'another' }))
  expect(answer.state).toBe('COMPLETED')
  expect(subscribe).not.toHaveBeenCalled()
})
