import { expect, test } from 'vitest'
import { event, resume, run, setup, worker } from './executions-fixture.ts'

const LIMIT = { SVC_EXECUTIONS__MAX_LOG_BYTES: String(4 * 1_048_576) }

/** JSON text of this many mebibytes. */
const text = (mebibytes: number) => JSON.stringify('x'.repeat(mebibytes * 1_048_576))
const result = (mebibytes: number) => event('TASK_COMPLETED', { value_json: text(mebibytes) })

const refusal = { kind: 'too_large', message: expect.stringContaining('would exceed 4 MiB') }

/** An execution that a worker has claimed. */
async function claimed(env: Record<string, string>, replicas = 1) {
  const { client } = await setup({ env, replicas })
  const { execution_id } = await run(client)
  const own = worker(client)
  await own.lease()
  const { claim_generation: generation } = await own.claim(execution_id)
  const report = (state: string, events = [result(0.5)], output_json?: string) =>
    own.report(execution_id, state, { events, output_json, generation })
  return { client, execution_id, report }
}

test('a log that grows by small reports: refused above max_log_bytes, and the execution can still fail', async () => {
  const { report } = await claimed(LIMIT)
  let accepted = 0
  const grow = async () => {
    for (; accepted < 20; accepted++) await report('RUNNING')
  }
  await expect(grow()).rejects.toMatchObject(refusal)
  expect(accepted).toBeGreaterThanOrEqual(6)
  expect(accepted).toBeLessThanOrEqual(9)
  await expect(report('RUNNING', [result(1)])).rejects.toMatchObject(refusal)
  await expect(report('COMPLETED', [], text(1))).rejects.toMatchObject(refusal)
  const { state } = await report('FAILED', [event('WORKFLOW_FAILED', { value_json: '{}' })])
  expect(state).toBe('FAILED')
})

test('a report that is repeated while the log is full: accepted', async () => {
  const { report } = await claimed(LIMIT)
  const events = [result(1), result(1), result(1)]
  await report('RUNNING', events)
  await expect(report('RUNNING', events)).resolves.toMatchObject({ state: 'RUNNING' })
  await expect(report('RUNNING', [...events, result(1), result(1)])).rejects.toMatchObject(refusal)
})

test('reports to two replicas: each knows what the other has stored', async () => {
  const { report } = await claimed(LIMIT, 2)
  const grow = async () => {
    for (let i = 0; i < 12; i++) await report('RUNNING', [result(1)])
  }
  await expect(grow()).rejects.toMatchObject(refusal)
})

test('answers of a client to pauses: refused above max_log_bytes, and the execution stays paused', async () => {
  const { client, execution_id, report } = await claimed(LIMIT)
  await report('RUNNING', [result(1), result(1), result(1)])
  await report('PAUSED', [event('WORKFLOW_PAUSED')])
  await expect(resume(client, execution_id, text(2))).rejects.toMatchObject(refusal)
  await expect(resume(client, execution_id, '1')).resolves.toMatchObject({ state: 'RESUMING' })
})

test('no max_log_bytes: not limited', async () => {
  const { report } = await claimed({ SVC_EXECUTIONS__MAX_LOG_BYTES: '0' })
  for (let i = 0; i < 6; i++) await report('RUNNING', [result(1)])
})
