import { expect, test } from 'vitest'
import { framesOf, setup } from './bulk-fixture.ts'

test('a dry run: count, sample and what is left out, and nothing changes', async () => {
  const { bulk, changes, searches, recorded } = await setup(['RUNNING', 'FAILED', 'SCHEDULED'])
  const filter = { workflow_name: 'hello', version: 1, created_after: '2026-01-02T03:04:05Z' }
  const response = await bulk({ filter, action: 'cancel', dry_run: true })
  const found = (await response.json()) as { sample: { state: string }[] }
  expect(found).toMatchObject({ count: 2, forbidden: 0, left_out: 1 })
  expect(found.sample.map(({ state }) => state)).toEqual(['RUNNING', 'SCHEDULED'])
  expect([changes(), recorded.filter(({ action }) => action === 'execution.bulk')]).toEqual([
    [],
    [],
  ])
  expect(searches.at(-1)).toMatchObject({ workflow_name: 'hello', workflow_version: 1 })
})

test('a cancel of all matches: each once, with progress, an end and one act in the audit log', async () => {
  const { bulk, changes, recorded } = await setup(['RUNNING', 'PAUSED', 'FAILED'], { gone: 1 })
  const response = await bulk({ action: 'cancel', expect: 2 })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const frames = await framesOf(response)
  const progress = { total: 2, done: 1, failed: 1, stopped: false }
  const id = frames[0]?.[1].id
  expect(id).toMatch(/^[0-9a-f]{32}$/)
  expect(frames).toEqual([
    ['progress', { ...progress, done: 0, failed: 0, id }],
    ['progress', { ...progress, id }],
    [
      'end',
      {
        ...{ ...progress, id },
        failures: [
          { execution_id: expect.any(String), reason: expect.stringContaining('not found') },
        ],
      },
    ],
  ])
  expect(changes().map(({ body }) => body?.$case)).toEqual(['cancel', 'cancel'])
  await expect
    .poll(() => recorded.filter(({ action }) => action === 'execution.bulk').length)
    .toBe(2)
  const [begun, done] = recorded.filter(({ action }) => action === 'execution.bulk')
  expect([begun?.outcome, done?.outcome]).toEqual(['begun', 'done'])
  expect(JSON.parse(done?.detail_json ?? '')).toMatchObject({ act: 'cancel', ...progress, id })
})

/** Begins an act on 60 executions whose changes wait; the client leaves after the first frame. */
async function leaveAct() {
  const gateway = await setup(Array(60).fill('RUNNING'))
  let release = () => {}
  gateway.executions.held = new Promise<void>((resolve) => {
    release = resolve
  })
  const leaving = new AbortController()
  const { body } = await gateway.call('POST', '/executions/bulk', {
    body: JSON.stringify({ filter: { namespace: 'default' }, action: 'cancel', expect: 60 }),
    headers: { 'content-type': 'application/json' },
    signal: leaving.signal,
  })
  const first = await body?.getReader().read()
  const id = /"id":"([0-9a-f]{32})"/.exec(new TextDecoder().decode(first?.value))?.[1]
  await expect.poll(() => gateway.changes().length).toBeGreaterThan(0)
  leaving.abort()
  // The gateway learns of it before the first changes are answered.
  await new Promise((resolve) => setTimeout(resolve, 200))
  release()
  const progress = async () => (await gateway.call('GET', `/executions/bulk/${id}`)).json()
  return { ...gateway, progress }
}

test('a client that leaves: the act continues to its end, which is audited and can be read', async () => {
  const { progress, changes, recorded } = await leaveAct()
  await expect.poll(progress).toMatchObject({ state: 'ended', done: 60, stopped: false })
  expect(changes().length).toBe(60)
  const outcomes = () =>
    recorded.filter(({ action }) => action === 'execution.bulk').map(({ outcome }) => outcome)
  await expect.poll(outcomes).toEqual(['begun', 'done'])
})

test('a set that grew by more than 1 %: 409, and nothing changes', async () => {
  const { bulk, changes } = await setup(['RUNNING', 'RUNNING'])
  const response = await bulk({ action: 'cancel', expect: 1 })
  expect([response.status, await response.json()]).toMatchObject([
    409,
    { detail: expect.stringContaining('matches 2 executions, more than the 1 expected') },
  ])
  expect(changes()).toEqual([])
})

test('fewer matches than expected: the act is done', async () => {
  const { bulk, changes } = await setup(['PAUSED', 'RUNNING'])
  const frames = await framesOf(await bulk({ action: 'resume', input: { n: 1 }, expect: 9 }))
  expect(frames.at(-1)).toMatchObject(['end', { total: 1, done: 1 }])
  expect(changes()).toMatchObject([{ body: { $case: 'resume', value: { body_json: '{"n":1}' } } }])
})

test('reruns and forks: an execution of each; the same key starts none again', async () => {
  const { bulk, changes } = await setup(['FAILED', 'COMPLETED'])
  const again = () => bulk({ action: 'rerun', version: 2, expect: 2 }, { 'idempotency-key': 'k' })
  await framesOf(await again())
  await framesOf(await again())
  expect(changes()).toMatchObject(
    Array(4).fill({ body: { $case: 'create', value: { workflow_version: 2 } } }),
  )
  expect(new Set(changes().map(({ execution_id }) => execution_id)).size).toBe(2)
  await framesOf(await bulk({ action: 'fork', after_seq: 5, expect: 2 }))
  expect(changes().slice(-2)).toMatchObject(
    Array(2).fill({ body: { $case: 'fork', value: { after_seq: 5 } } }),
  )
})

test('a principal with four acts at a time: the next is refused until one has ended', async () => {
  let answer = () => {}
  const answers = new Promise<void>((resolve) => {
    answer = resolve
  })
  const { bulk, searches } = await setup(['RUNNING'], { answers })
  const dryRun = () => bulk({ action: 'cancel', dry_run: true })
  const first = Array.from({ length: 4 }, dryRun)
  await expect.poll(() => searches.length).toBe(4)
  const refused = await dryRun()
  answer()
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).not.toBeNull()
  expect((await dryRun()).status).toBe(200)
})

test('more than 10,000 matches: 422', async () => {
  const { bulk } = await setup(['RUNNING'], { total: 10_001 })
  const response = await bulk({ action: 'cancel', dry_run: true })
  expect([response.status, await response.json()]).toMatchObject([
    422,
    { detail: [{ loc: ['body', 'filter'] }] },
  ])
})

const WRONG: [body: object, loc: string[]][] = [
  [{ action: 'delete' }, ['action']],
  [{ action: 'cancel' }, ['expect']],
  [{ action: 'cancel', expect: -1 }, ['expect']],
  [{ action: 'cancel', dry_run: 1 }, ['dry_run']],
  [{ action: 'cancel', dry_run: true, filter: 'all' }, ['filter']],
  [{ action: 'cancel', dry_run: true, filter: {} }, ['filter']],
  [{ action: 'cancel', dry_run: true, filter: { name: 'x' } }, ['filter', 'name']],
  [{ action: 'cancel', dry_run: true, filter: { version: 1 } }, ['filter', 'version']],
  [
    { action: 'cancel', dry_run: true, filter: { created_after: 'now' } },
    ['filter', 'created_after'],
  ],
  [{ action: 'cancel', dry_run: true, filter: { limit: 5 } }, ['filter', 'limit']],
]

test('wrong bodies: 422 with the place, and nothing changes', async () => {
  const { bulk, changes } = await setup(['RUNNING'])
  for (const [body, loc] of WRONG) {
    const response = await bulk(body)
    const { detail } = (await response.json()) as { detail: { loc: string[] }[] }
    expect([response.status, detail[0]?.loc], JSON.stringify(body)).toEqual([422, ['body', ...loc]])
  }
  expect(changes()).toEqual([])
})

test('an input with more than 1 GiB of copies in one act: refused, and nothing changes', async () => {
  const { bulk, changes } = await setup(Array(70).fill('PAUSED'))
  const input = 'x'.repeat(15.5 * 1_048_576)
  const response = await bulk({ action: 'resume', expect: 70, input })
  expect([response.status, await response.text()]).toEqual([
    422,
    expect.stringContaining('at most 1073741824 are allowed'),
  ])
  expect(changes()).toEqual([])
})
