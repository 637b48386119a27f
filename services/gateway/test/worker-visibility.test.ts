import type { Worker } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { notFound } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'1'.repeat(16)}.${'A'.repeat(43)}`

const worker = (name: string, names?: string[]): Worker => ({
  ...{ name, runtime: undefined, packages: [], resources: undefined, labels: { secret: name } },
  ...{ max_concurrent_executions: 4, runners: [], status: 'online', metrics: {} },
  ...{ last_seen_at: undefined, registered_at: undefined, session_id: 's' },
  namespaces: names && { names },
})
const FLEET = [
  worker('any'),
  worker('of-a', ['a']),
  worker('of-ab', ['a', 'b']),
  worker('of-b', ['b']),
]

async function setup(permissions: string[], isOn = true) {
  const asked: string[][] = []
  const { call } = await startGateway(
    {
      keys: {
        find: async () => ({
          account: { principal: serviceAccount(), permissions },
          expires_at: undefined,
        }),
      },
      dispatcher: {
        list: async () => ({ workers: FLEET }),
        async get({ name }) {
          const found = FLEET.find((one) => one.name === name)
          if (!found) throw notFound('Worker', name)
          return found
        },
      },
      fleet: {
        explain: async () => ({
          needs: [],
          verdicts: FLEET.map(({ name, status, namespaces }) => ({
            ...{ name, status, namespaces, capacity: 4 },
            lacking: namespaces && !namespaces.names.includes('a') ? ["namespace 'a'"] : [],
          })),
        }),
      },
      queue: {
        explain: async () => ({
          ...{ state: 'SCHEDULED', queue_position: 1, held_by: '' },
          ...{ queued_at: undefined, deadline_at: undefined, parked: false, wakes_on: [] },
          ...{ handed_over_by: '', undone: [] },
          requirement: { packages: [], affinity: {}, runner: '', namespace: 'a' },
        }),
        async loads({ worker_names }) {
          asked.push(worker_names)
          return { loads: [] }
        },
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: String(isOn) },
  )
  const get = async (path: string) => {
    const response = await call('GET', path, { headers: { authorization: `Bearer ${KEY}` } })
    return { status: response.status, text: await response.text() }
  }
  const names = async () =>
    JSON.parse((await get('/workers')).text).map(({ name }: { name: string }) => name)
  return { get, names, asked }
}

const ALL = FLEET.map(({ name }) => name)

test.each<[string, string[], string[]]>([
  ['no permission', [], ['any']],
  ['a workflow of one namespace', ['workflow:a:report:read'], ['any', 'of-a', 'of-ab']],
  ['permission to run in another', ['workflow:b:*:run'], ['any', 'of-ab', 'of-b']],
  ['executions of one namespace', ['execution:a:*:read'], ['any', 'of-a', 'of-ab']],
  ['secrets and schedules only', ['admin:secrets:read', 'schedule:a:*:manage'], ['any']],
  ['workflows of every namespace', ['workflow:*:*:read'], ALL],
  ['worker:*:read', ['worker:*:read'], ALL],
  ['everything', ['*'], ALL],
])('a caller with %s: sees the workers that serve its namespaces', async (_, permissions, seen) => {
  const { get, names } = await setup(permissions)
  expect(await names()).toEqual(seen)
  for (const name of ALL) {
    const { status, text } = await get(`/workers/${name}`)
    const absent = await get('/workers/absent')
    if (seen.includes(name)) expect(status).toBe(200)
    else expect({ status, text }).toEqual({ ...absent, text: absent.text.replace('absent', name) })
  }
})

test('authentication off: all workers are shown', async () => {
  const { names } = await setup([], false)
  expect(await names()).toEqual(ALL)
})

test.each<[string, string[], string[], number]>([
  ['with this execution only', [`execution:${ID}:read`], ['any', 'of-a', 'of-ab'], 1],
  [
    'with its namespace',
    ['execution:a:*:read', `execution:${ID}:read`],
    ['any', 'of-a', 'of-ab'],
    1,
  ],
  ['with everything', ['*'], ALL, 0],
])('explain for a caller %s: other tenants are a number', async (_, permissions, seen, others) => {
  const { get, asked } = await setup(permissions)
  const { status, text } = await get(`/executions/${ID}/explain`)
  expect(status).toBe(200)
  const explained = JSON.parse(text)
  expect(explained.workers.map(({ name }: { name: string }) => name)).toEqual(seen)
  expect(explained.other_workers).toBe(others)
  expect(asked).toEqual([seen])
  if (others > 0) expect(text).not.toContain('of-b"')
})
