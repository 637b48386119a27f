import { expect, test } from 'vitest'
import { factsOf, selectorsOf, usesMetrics } from './facts.ts'
import type { Capabilities } from './matching.ts'

const capabilities: Capabilities = {
  resources: {
    cpu_total: 8,
    cpu_available: 3.5,
    memory_total: 0,
    memory_available: 0,
    disk_total: 0,
    disk_free: 0,
    gpus: [],
  },
  packages: () => new Map(),
  labels: { zone: 'a:b', constructor: 'x' },
  runners: [],
}

test('routing policy: returns its selectors; without a policy: none', () => {
  const anything = { packages: [], affinity: {}, runner: '' }
  expect(selectorsOf(anything)).toEqual([])
  const terms = [
    { kind: 'prefer', selector: 'label:zone', op: '==', value: 'a', weight: 1 },
    { kind: 'least', selector: 'metric:queue', weight: 1 },
    { kind: 'sticky', weight: 1 },
  ]
  const selectors = selectorsOf({ ...anything, routing_json: JSON.stringify({ terms }) })
  expect(selectors).toEqual(['label:zone', 'metric:queue'])
  expect(usesMetrics(selectors)).toBe(true)
  expect(usesMetrics(['label:metric:x', 'load'])).toBe(false)
})

test('facts: known values as text, unknown ones left out', () => {
  const asked = [
    ...['label:zone', 'label:constructor', 'label:toString', 'label:none'],
    ...['metric:queue', 'metric:none', 'resource:cpu_available', 'resource:gpus', 'load'],
  ]
  expect(factsOf(asked, capabilities, { queue: 3 })).toEqual({
    'label:zone': 'a:b',
    'label:constructor': 'x',
    'metric:queue': '3',
    'resource:cpu_available': '3.5',
  })
  expect(factsOf(['resource:cpu_total'], { ...capabilities, resources: undefined })).toEqual({})
})
