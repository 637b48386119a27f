import { CapturedLinesService } from '@windlass/proto/windlass/executions/v1/captured_lines'
import { clientOf } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { run, setup, submit, worker } from './executions-fixture.ts'

const line = (message: string, fields = {}) => ({
  ...{ seq: 0, task_id: 't_1', task_name: 't', level: 20, logger: 'stdout', message },
  ...{ time: '2026-01-02T03:04:05.006Z', ...fields },
})

/** A claimed execution with a client of its lines. */
async function claimed() {
  const { client, ports } = await setup()
  const lines = clientOf(
    CapturedLinesService,
    ports.map((port) => `127.0.0.1:${port}`),
  )
  onTestFinished(() => lines.close())
  const { execution_id } = await run(client)
  const w = worker(client)
  const { leases } = await w.lease()
  const claim_generation = leases[0]?.execution?.claim_generation ?? 0
  const writer = w.writer(claim_generation)
  await submit(client, {
    ...{ execution_id, with_log: false },
    body: { $case: 'claim', value: { writer, awaits_confirmation: false } },
  })
  const held = { execution_id, claim_generation }
  const read = async (request = {}) => {
    const page = await lines.read({ execution_id, after: 0, limit: 10, min_level: 0, ...request })
    return { ...page, messages: page.lines.map(({ message }) => message) }
  }
  return { client, lines, held, writer, read }
}

test('lines of a claim: in order, by level, by task and in pages; a repeated request stores nothing', async () => {
  const { lines, held, read } = await claimed()
  const batch = [line('a'), line('b', { level: 40 }), line('c\nd', { task_id: '' })]
  const { last_seq } = await lines.append({ ...held, first: 0, lines: batch })
  expect(await lines.append({ ...held, first: 0, lines: batch })).toEqual({ last_seq })
  await lines.append({ ...held, first: 3, lines: [line('e')] })
  const all = await read()
  expect([all.messages, all.more]).toEqual([['a', 'b', 'c\nd', 'e'], false])
  expect(all.lines[2]).toEqual({ ...batch[2], seq: last_seq })
  expect((await read({ min_level: 30 })).messages).toEqual(['b'])
  expect((await read({ task_id: '' })).messages).toEqual(['c\nd'])
  const page = await read({ limit: 2 })
  expect([page.messages, page.more]).toEqual([['a', 'b'], true])
  expect((await read({ after: page.lines[1]?.seq })).messages).toEqual(['c\nd', 'e'])
})

test('lines of another claim, or after the end: dropped; an unknown execution is not found', async () => {
  const { client, lines, held, writer, read } = await claimed()
  const { execution_id, claim_generation } = held
  const late = { execution_id, claim_generation: claim_generation - 1, first: 0 }
  await lines.append({ ...late, lines: [line('of an earlier claim')] })
  await lines.append({ ...held, first: 0, lines: [line('kept')] })
  await submit(client, {
    ...{ execution_id, with_log: false },
    body: {
      $case: 'checkpoint',
      value: { writer, state: 'COMPLETED', output_json: '1', events: [] },
    },
  })
  await lines.append({ ...held, first: 1, lines: [line('too late')] })
  expect((await read()).messages).toEqual(['kept'])
  await expect(read({ execution_id: 'f'.repeat(32) })).rejects.toMatchObject({ kind: 'not_found' })
})

test('pages of long lines: end earlier than their limit, and nothing is left out', async () => {
  const { lines, held, read } = await claimed()
  const long = 'x'.repeat(16_000)
  for (let first = 0; first < 300; first += 100) {
    const batch = Array.from({ length: 100 }, (_, i) => line(`${first + i} ${long}`))
    await lines.append({ ...held, first, lines: batch })
  }
  const numbers: number[] = []
  for (let after = 0, more = true; more; ) {
    const page = await read({ after, limit: 1_000 })
    numbers.push(...page.messages.map((message) => Number.parseInt(message, 10)))
    after = page.lines.at(-1)?.seq ?? 0
    more = page.more
    expect(page.lines.length).toBeLessThan(300)
  }
  expect(numbers).toEqual(Array.from({ length: 300 }, (_, i) => i))
})
