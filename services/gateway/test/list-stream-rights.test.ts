import { newId } from '@windlass/runtime/ids'
import { expect, test } from 'vitest'
import { framesOf } from './frames.ts'
import { CURSOR, listSetup, NOW, rowOf, take } from './list-stream-fixture.ts'
import { serviceAccount } from './service-account.ts'

test('a caller of one namespace: asks for its executions only', async () => {
  const { follow, grant, requests } = await listSetup()
  await grant('execution:team:*:read')
  await take(framesOf(await follow()), 1)
  const scopes = { all: false, workflows: [{ namespace: 'team', name: '*' }] }
  expect(requests[0]?.search?.visible).toMatchObject(scopes)
})

test('a reader that loses the permission: an event that names it, and the end', async () => {
  const { follow, grant } = await listSetup()
  const frames = framesOf(await follow())
  await take(frames, 1)
  await grant('workflow:team:*:run')
  expect(await take(frames, 2)).toEqual([
    ['access_denied', { detail: "Permission denied: requires 'execution:*:read'" }],
    ['end'],
  ])
})

test('a reader that keeps some rights only: follows what they cover, and reads its list again', async () => {
  const { follow, grant, change, requests } = await listSetup()
  const frames = framesOf(await follow())
  await take(frames, 1)
  await grant('execution:team:*:read')
  const isNarrow = () => requests.some(({ search }) => search?.visible?.all === false)
  await expect
    .poll(() => {
      change({ row: rowOf(newId()), matches: true })
      return isNarrow()
    })
    .toBe(true)
  const seen: unknown[] = []
  for await (const { event } of frames) {
    seen.push(event)
    if (event === 'resync') break
  }
  expect(seen).toContain('ready')
})

const WORKER = {
  ...{ name: 'w1', status: 'online', packages: [], labels: {}, metrics: {}, runners: [] },
  ...{ max_concurrent_executions: 0, session_id: '', runtime: undefined, resources: undefined },
  ...{ last_seen_at: undefined, registered_at: undefined },
}

test('workers and approvals: rows that differ from the read before, and null for those that are gone', async () => {
  let workers = [WORKER]
  const { follow } = await listSetup({
    dispatcher: { list: async () => ({ workers }) },
    approvals: { list: async () => ({ approvals: [], total: 0 }) },
  })
  const frames = framesOf(await follow('?topics=workers,approvals'))
  expect(await take(frames, 1)).toEqual([['ready', { topics: ['workers', 'approvals'] }]])
  workers = [{ ...WORKER, status: 'offline' }]
  const row = expect.objectContaining({ name: 'w1', status: 'offline' })
  expect(await take(frames, 1)).toEqual([['workers', { id: 'w1', revision: null, row }]])
  workers = []
  expect(await take(frames, 1)).toEqual([['workers', { id: 'w1', revision: null, row: null }]])
})

test.each([
  ['?topics=secrets', ['query', 'topics', 0]],
  ['?topics=', ['query', 'topics', 0]],
  ['?filter=state%3Drunning%26id%3Dx', ['query', 'filter', 'id']],
  ['?filter=version%3D1', ['query', 'filter', 'version']],
])('a malformed query %s: 422 with its place', async (query, loc) => {
  const { follow } = await listSetup()
  const response = await follow(query)
  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ detail: [{ loc }] })
})

test('a topic that the caller may not read, among others: 403', async () => {
  const { follow, grant } = await listSetup()
  await grant('execution:team:*:read')
  const response = await follow('?topics=executions,schedules')
  expect(response.status).toBe(403)
  expect(await response.text()).toContain('schedule:*:read')
})

test('more streams than the quota of the caller: 503', async () => {
  const { follow } = await listSetup({}, { SVC_QUOTAS__PRINCIPAL_EVENT_STREAMS: '1' })
  await take(framesOf(await follow()), 1)
  expect((await follow()).status).toBe(503)
})

test('a service of an earlier release: 503, and nothing stays counted', async () => {
  const { follow } = await listSetup(
    { history: undefined as never },
    { SVC_QUOTAS__PRINCIPAL_EVENT_STREAMS: '1' },
  )
  for (let i = 0; i < 3; i++) {
    const response = await follow()
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('upgrade')
  }
})

test('a principal follows fifty different lists: one more is 503, an equal one or another caller is not', async () => {
  const { follow, state } = await listSetup()
  const open: Response[] = []
  for (let i = 0; i < 50; i++) open.push(await follow(`?filter=workflow_name%3Dw${i}`))
  expect(open.map(({ status }) => status)).toEqual(Array(50).fill(200))
  const refused = await follow('?filter=workflow_name%3Dmore')
  expect([refused.status, await refused.text()]).toEqual([
    503,
    expect.stringContaining('you follow 50 different lists already'),
  ])
  open.push(await follow('?filter=workflow_name%3Dw7'))
  state.principal = serviceAccount({ subject: 'another' })
  const other = { authorization: `Bearer wk_${'1'.repeat(16)}.${'A'.repeat(43)}` }
  open.push(await follow('?filter=workflow_name%3Dmore', other))
  expect(open.slice(50).map(({ status }) => status)).toEqual([200, 200])
  await open[0]?.body?.cancel()
  await expect.poll(async () => (await follow('?filter=workflow_name%3Dmore')).status).toBe(200)
})

test('readers of one principal that resume at the same time: four reads at a time', async () => {
  let asked = 0
  const held: (() => void)[] = []
  const { follow } = await listSetup({
    history: {
      async listChanges({ since }) {
        if (since) {
          asked++
          await new Promise<void>((resolve) => held.push(resolve))
        }
        return { rows: [], total: 0, cut: false, as_of: new Date(NOW) }
      },
    },
  })
  const one = framesOf(await follow())
  await take(one, 1)
  const readers = Array.from({ length: 12 }, () => follow('', { 'last-event-id': CURSOR }))
  await expect.poll(() => asked).toBe(4)
  await take(framesOf(await follow()), 1)
  expect(asked).toBe(4)
  while (asked < 12) {
    held.pop()?.()
    await new Promise(setImmediate)
  }
  for (const release of held) release()
  for (const response of await Promise.all(readers)) await take(framesOf(response), 1)
})
