import type { Worker } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { Fault } from '@windlass/runtime/faults'
import { workerRecord } from '@windlass/testkit/worker-record'
import { expect, test } from 'vitest'
import { requireValidWorker } from './registration.ts'

const record = workerRecord('w1', { packages: [{ name: 'p', version: '1' }] })
const worker: Worker = {
  ...record,
  resources: {
    ...record.resources,
    gpus: [{ name: 'g', memory_total: 8, memory_available: 4 }],
  },
  status: '',
  metrics: {},
  last_seen_at: undefined,
  registered_at: undefined,
  session_id: '',
}
const request = (change: Partial<Worker>) => ({
  worker: { ...worker, ...change },
  instance: 'i',
  proven_session_id: '',
})
const resources = (change: object) => ({ resources: { ...worker.resources, ...change } as never })

test('valid worker: returned unchanged', () => {
  expect(requireValidWorker(request({}))).toEqual(worker)
  expect(requireValidWorker(request({ resources: undefined, runtime: undefined }))).toBeDefined()
})

test.each<[Partial<Worker>, (string | number)[]]>([
  [{ name: '..' }, ['name']],
  [{ name: 'w\n1' }, ['name']],
  [{ max_concurrent_executions: -1 }, ['max_concurrent_executions']],
  [
    { runtime: { os_name: 'x'.repeat(257), os_version: '', python_version: '' } },
    ['runtime', 'os_name'],
  ],
  [{ packages: [{ name: '', version: '1' }] }, ['packages', 0, 'name']],
  [{ packages: Array(10_001).fill({ name: 'p', version: '1' }) }, ['packages']],
  [{ labels: { zone: 'x'.repeat(1_025) } }, ['labels', 'zone']],
  [{ labels: { '': 'x' } }, ['labels']],
  [{ labels: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`l${i}`, ''])) }, ['labels']],
  [{ runners: ['a', ''] }, ['runners', 1]],
  [resources({ cpu_available: Number.NaN }), ['resources', 'cpu_available']],
  [resources({ disk_free: -1 }), ['resources', 'disk_free']],
  [
    resources({
      gpus: [{ name: 'g', memory_total: Number.POSITIVE_INFINITY, memory_available: 0 }],
    }),
    ['resources', 'gpus', 0, 'memory_total'],
  ],
])('invalid field: refused with its place, case %#', (change, place) => {
  try {
    requireValidWorker(request(change))
    expect.unreachable()
  } catch (error) {
    const { kind, details } = error as Fault
    expect(kind).toBe('unprocessable')
    expect(details?.problems).toMatchObject([{ loc: ['body', ...place] }])
  }
})

test('several invalid fields: all are named', () => {
  try {
    requireValidWorker(request({ name: '', runners: [''] }))
    expect.unreachable()
  } catch (error) {
    expect((error as Fault).details?.problems).toHaveLength(2)
  }
})
