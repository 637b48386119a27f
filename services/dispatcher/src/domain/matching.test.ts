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

test('work that needs nothing may go anywhere', () => {
  expect(meets(none, worker)).toBe(true)
  expect(meets(none, bare)).toBe(true)
})

test.each<[string, Partial<Requirement>, boolean]>([
  ['cores up to what is available, fractions too', { cpu: 3.5 }, true],
  ['more cores than are available', { cpu: 4 }, false],
  ['all of the memory', { memory: 4 * GIB }, true],
  ['a byte more', { memory: 4 * GIB + 1 }, false],
  ['the free disk', { disk: 10 * GIB }, true],
  ['more than the free disk', { disk: 11 * GIB }, false],
  ['as many GPUs as have free memory', { gpu: 1 }, true],
  ['a GPU whose memory is taken', { gpu: 2 }, false],
  ['an amount of nothing', { cpu: 0, gpu: 0 }, true],
  ['a label of exactly this value', { affinity: { zone: 'a' } }, true],
  ['a label of another value', { affinity: { zone: 'A' } }, false],
  ['an empty label that is there', { affinity: { tier: '' } }, true],
  ['an empty label that is not', { affinity: { rack: '' } }, false],
  ['a label named as a property of all objects', { affinity: { toString: 'a' } }, false],
  ['all of several labels', { affinity: { zone: 'a', rack: 'r' } }, false],
  ['a runner of the list', { runner: 'subprocess' }, true],
  ['another runner', { runner: 'docker' }, false],
  ['a package by any spelling of its name', { packages: ['ruamel_YAML.clib'] }, true],
  ['a package that is not there', { packages: ['polars'] }, false],
  ['a version by number, not by text', { packages: ['pandas>=2.9'] }, true],
  ['a later version', { packages: ['pandas >= 3'] }, false],
  ['exactly this version', { packages: ['pandas==2.10.1'] }, true],
  ['exactly another', { packages: ['pandas==2.10'] }, false],
  ['a version whatever its build', { packages: ['torch==2.1'] }, true],
  ['a build', { packages: ['torch==2.1.0+cu118'] }, true],
  ['another build', { packages: ['torch==2.1.0+cpu'] }, false],
  ['what cannot be read', { packages: ['pandas>=1,>=2'] }, false],
])('%s', (_, requirement, expected) => {
  expect(meets({ ...none, ...requirement }, worker)).toBe(expected)
})

test('a worker that says nothing of its resources is given no work that asks for some', () => {
  expect(meets({ ...none, cpu: 0 }, bare)).toBe(false)
  expect(meets({ ...none, gpu: 0 }, bare)).toBe(false)
})

test('an empty list of runners has none', () => {
  expect(meets({ ...none, runner: 'inprocess' }, bare)).toBe(false)
})

test('the first thing that is lacking is named', () => {
  expect(firstUnmet({ ...none, runner: 'docker', cpu: 99 }, worker)).toBe("runner 'docker'")
  expect(firstUnmet({ ...none, affinity: { zone: 'b' } }, worker)).toBe("label 'zone' = 'b'")
  expect(firstUnmet({ ...none, memory: 5 * GIB }, worker)).toBe(`memory ${5 * GIB}`)
  expect(firstUnmet({ ...none, packages: ['x>=1'] }, worker)).toBe("package 'x>=1'")
})

test('all that is lacking is named, in the order in which it is looked at', () => {
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
