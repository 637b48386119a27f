import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import { expect, test } from 'vitest'
import {
  type Capabilities,
  firstUnmet,
  meets,
  packageIndex,
  unmetRequirements,
} from './matching.ts'

const none: Requirement = { packages: [], affinity: {}, runner: '' }
const GIB = 2 ** 30
const gpu = (memory_available: number) => ({ name: 'g', memory_total: 8_000, memory_available })

const worker: Capabilities = {
  resources: {
    cpu_total: 8,
    cpu_available: 3.5,
    memory_total: 16 * GIB,
    memory_available: 4 * GIB,
    disk_total: 100 * GIB,
    disk_free: 10 * GIB,
    gpus: [gpu(8_000), gpu(0)],
  },
  packages: () =>
    packageIndex([
      { name: 'Ruamel.yaml_Clib', version: '0.2.8' },
      { name: 'torch', version: '2.1.0+cu118' },
      { name: 'pandas', version: '2.10.1' },
    ]),
  labels: { zone: 'a', tier: '' },
  runners: ['inprocess', 'subprocess'],
}

const bare: Capabilities = {
  resources: undefined,
  packages: () => new Map(),
  labels: {},
  runners: [],
}

test('empty requirement: every worker meets it', () => {
  expect(meets(none, worker)).toBe(true)
  expect(meets(none, bare)).toBe(true)
})

test.each<[string, Partial<Requirement>, boolean]>([
  ['cpu equal to the available cores, with a fraction', { cpu: 3.5 }, true],
  ['cpu above the available cores', { cpu: 4 }, false],
  ['memory equal to the available memory', { memory: 4 * GIB }, true],
  ['memory one byte above it', { memory: 4 * GIB + 1 }, false],
  ['disk equal to the free disk', { disk: 10 * GIB }, true],
  ['disk above the free disk', { disk: 11 * GIB }, false],
  ['gpu equal to the GPUs with free memory', { gpu: 1 }, true],
  ['gpu that counts one without free memory', { gpu: 2 }, false],
  ['amounts of 0', { cpu: 0, gpu: 0 }, true],
  ['label with the same value', { affinity: { zone: 'a' } }, true],
  ['label with another value', { affinity: { zone: 'A' } }, false],
  ['empty label that the worker has', { affinity: { tier: '' } }, true],
  ['empty label that the worker lacks', { affinity: { rack: '' } }, false],
  ['label named like a property of all objects', { affinity: { toString: 'a' } }, false],
  ['one of two labels', { affinity: { zone: 'a', rack: 'r' } }, false],
  ['runner of the list', { runner: 'subprocess' }, true],
  ['runner that is not in the list', { runner: 'docker' }, false],
  ['package under another spelling of its name', { packages: ['ruamel_YAML.clib'] }, true],
  ['package that is not installed', { packages: ['polars'] }, false],
  ['package version that is higher by number, lower as text', { packages: ['pandas>=2.9'] }, true],
  ['package version above the installed one', { packages: ['pandas >= 3'] }, false],
  ['package of exactly the installed version', { packages: ['pandas==2.10.1'] }, true],
  ['package of another exact version', { packages: ['pandas==2.10'] }, false],
  ['package version without the build label', { packages: ['torch==2.1'] }, true],
  ['package version with the installed build label', { packages: ['torch==2.1.0+cu118'] }, true],
  ['package version with another build label', { packages: ['torch==2.1.0+cpu'] }, false],
  ['package specification that cannot be parsed', { packages: ['pandas>=1,>=2'] }, false],
])('%s: compared with the worker', (_, requirement, expected) => {
  expect(meets({ ...none, ...requirement }, worker)).toBe(expected)
})

test('worker without resources: meets no requirement that names an amount', () => {
  expect(meets({ ...none, cpu: 0 }, bare)).toBe(false)
  expect(meets({ ...none, gpu: 0 }, bare)).toBe(false)
})

test('empty list of runners: meets no requirement with a runner', () => {
  expect(meets({ ...none, runner: 'inprocess' }, bare)).toBe(false)
})

test('several unmet parts: the first is returned', () => {
  expect(firstUnmet({ ...none, runner: 'docker', cpu: 99 }, worker)).toBe("runner 'docker'")
  expect(firstUnmet({ ...none, affinity: { zone: 'b' } }, worker)).toBe("label 'zone' = 'b'")
  expect(firstUnmet({ ...none, memory: 5 * GIB }, worker)).toBe(`memory ${5 * GIB}`)
  expect(firstUnmet({ ...none, packages: ['x>=1'] }, worker)).toBe("package 'x>=1'")
})

test('several unmet parts: all are listed, in a fixed order', () => {
  const needs = {
    runner: 'docker',
    affinity: { zone: 'b', tier: '' },
    cpu: 4,
    gpu: 1,
    memory: 5 * GIB,
    packages: ['x', 'pandas', 'y==1'],
  }
  expect([...unmetRequirements(needs, worker)]).toEqual([
    "runner 'docker'",
    "label 'zone' = 'b'",
    'cpu 4',
    `memory ${5 * GIB}`,
    "package 'x'",
    "package 'y==1'",
  ])
  expect([...unmetRequirements(none, bare)]).toEqual([])
})

test('a worker of certain namespaces: meets work of these only', () => {
  const bound = { ...worker, namespaces: ['a', 'b'] }
  expect(meets({ ...none, namespace: 'b' }, bound)).toBe(true)
  expect(firstUnmet({ ...none, namespace: 'c' }, bound)).toBe("namespace 'c'")
  // Work that was queued by an earlier release has no namespace.
  expect(meets(none, bound)).toBe(false)
  expect(meets({ ...none, namespace: 'a' }, { ...worker, namespaces: [] })).toBe(false)
  expect(meets({ ...none, namespace: 'c' }, worker)).toBe(true)
})
