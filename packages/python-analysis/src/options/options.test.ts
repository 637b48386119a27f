import { expect, test } from 'vitest'
import { optionsFixture } from '../../test/options-fixture.ts'

const HEAD = `from windlass import workflow, cron, ResourceRequest
`

const { declared, expectRefusal } = optionsFixture(HEAD)

test('no options: members are absent, lists are empty', () => {
  const { metadata, requests_json, affinity_json, requirement, input_schema_json } = declared('')
  expect(metadata).toEqual({
    task_names: [],
    nested_workflows: [],
    auth_exempt_tasks: [],
    secret_requests: [],
    required_permissions: [],
    description: 'Does it.',
  })
  expect([requests_json, affinity_json, input_schema_json]).toEqual(['null', 'null', ''])
  expect(requirement).toEqual({ packages: [], affinity: {}, runner: '' })
})

test('constant options: in the metadata', () => {
  const { metadata, requirement } = declared(
    'secret_requests=("B", NAME), required_permissions=["a:b:*"], runner="subprocess", ' +
      'durability="transient", queue_timeout=2 * 60, priority=9, tags={"team": "bill" + "ing", "env": ""}',
    'NAME = "A key+1"',
  )
  expect(metadata).toMatchObject({
    secret_requests: ['A key+1', 'B'],
    required_permissions: ['a:b:*'],
    runner: 'subprocess',
    durability: 'transient',
    queue_timeout: 120,
    priority: 9,
    tags: { team: 'billing', env: '' },
  })
  expect(requirement).toMatchObject({ runner: 'subprocess', queue_timeout: 120 })
})

test('options set to None: as if not declared', () => {
  const names = ['secret_requests', 'required_permissions', 'runner', 'durability', 'requests']
  const more = ['affinity', 'schedule', 'routing', 'queue_timeout', 'priority', 'tags']
  const { metadata } = declared([...names, ...more].map((name) => `${name}=None`).join(', '))
  expect(metadata).toEqual(declared('').metadata)
})

test.each([
  ['secret_requests="A"', 'secret_requests'],
  ['secret_requests=["a/b"]', "'a/b' is not the name of a secret"],
  ['secret_requests=[""]', 'secret_requests'],
  ['secret_requests=[f()]', 'secret_requests'],
  ['secret_requests=[1]', 'secret_requests'],
  ['required_permissions=["a::b"]', "'a::b' is not a permission"],
  ['required_permissions=["a b\\n"]', 'required_permissions'],
  [
    'runner="vm"',
    "runner of workflow 'job' in line 4: it must be one of inprocess, subprocess, docker",
  ],
  ['durability="forever"', 'durability'],
  ['queue_timeout=0', 'queue_timeout'],
  ['priority=10', 'priority'],
  ['priority=-1', 'priority'],
  ['priority=1.5', 'priority'],
  ['priority=5.0', 'priority'],
  ['priority="5"', 'priority'],
  ['priority=True', 'priority'],
  ['tags=["a"]', 'it must be a dictionary of strings'],
  ['tags={"a": 1}', 'it must be a dictionary of strings'],
  ['tags={1: "a"}', 'it must be a dictionary of strings'],
  ['tags={"a": f()}', 'it must be a constant'],
  ['tags={"a b": "c"}', "The tag 'a b' is malformed"],
  ['tags={"a": "b,c"}', "The tag 'a' is malformed"],
  ['tags={"__proto__": "c"}', "The tag '__proto__' is malformed"],
  [`tags={${Array.from({ length: 17 }, (_, i) => `"k${i}": ""`).join(', ')}}`, 'at most 16'],
  ['queue_timeout="1"', 'queue_timeout'],
  ['durability="transient", schedule=cron("@daily")', 'schedule'],
])('%s: refused', (options, reason) => {
  expectRefusal(options, reason)
})

test.each([
  ['cpu=2', { cpu: 2 }, { cpu: 2 }],
  ['cpu=0.5, gpu=1', { cpu: 0.5, gpu: 1 }, { cpu: 0.5, gpu: 1 }],
  ['memory=1024 ** 2', { memory: 1_048_576 }, { memory: 1_048_576 }],
  ['memory="512"', { memory: '512' }, { memory: 512 }],
  ['memory="1Ki", disk="2K"', { memory: '1Ki', disk: '2K' }, { memory: 1024, disk: 2048 }],
  ['memory="1.5Mi"', { memory: '1.5Mi' }, { memory: 1_572_864 }],
  ['memory="4G"', { memory: '4G' }, { memory: 4 * 1024 ** 3 }],
  [
    'disk="1Ti", memory="1P"',
    { disk: '1Ti', memory: '1P' },
    { disk: 1024 ** 4, memory: 1024 ** 5 },
  ],
  [
    'packages=["NumPy >= 1.26", "a==2.0", "a==2.0", "z"]',
    { packages: ['NumPy >= 1.26', 'a==2.0', 'a==2.0', 'z'] },
    { packages: ['a==2.0', 'numpy>=1.26', 'z'] },
  ],
  ['cpu=None, gpu=0', { gpu: 0 }, { gpu: 0 }],
])('ResourceRequest(%s): %j', (given, requests, requirement) => {
  const workflow = declared(`requests=ResourceRequest(${given})`)
  expect(JSON.parse(workflow.requests_json)).toEqual(requests)
  expect(workflow.requirement).toMatchObject(requirement)
})

test('resource requests by factory, alias and name: recognized', () => {
  const requests = (options: string, before?: string) =>
    JSON.parse(declared(options, before).requests_json)
  expect(requests('requests=ResourceRequest.with_memory("1Gi")')).toEqual({ memory: '1Gi' })
  expect(requests('requests=R.with_packages(["a"])', 'R = ResourceRequest')).toEqual({
    packages: ['a'],
  })
  expect(requests('requests=BIG', 'BIG = ResourceRequest(cpu=8)')).toEqual({ cpu: 8 })
  expect(requests('requests=ResourceRequest()')).toBeNull()
})

test.each([
  ['f()', 'it must be a ResourceRequest'],
  ['{"cpu": 1}', 'it must be a ResourceRequest'],
  ['ResourceRequest(1)', 'given by name'],
  ['ResourceRequest(cores=1)', "'cores' is not a resource"],
  ['ResourceRequest(**x)', 'written out'],
  ['ResourceRequest(cpu="2")', 'requests.cpu'],
  ['ResourceRequest(cpu=-1)', 'must not be negative'],
  ['ResourceRequest(cpu=n())', 'requests.cpu'],
  ['ResourceRequest(memory="lots")', 'requests.memory'],
  ['ResourceRequest(memory="4 GiBi")', 'requests.memory'],
  ['ResourceRequest(disk="-1G")', 'requests.disk'],
  ['ResourceRequest(memory=float("nan"))', 'requests.memory'],
  ['ResourceRequest(packages=["a~=1"])', "'a~=1'"],
  ['ResourceRequest(packages="a")', 'requests.packages'],
  ['ResourceRequest.with_cpu(1, 2)', 'takes one value'],
])('requests=%s: refused', (value, reason) => {
  expectRefusal(`requests=${value}`, reason)
})

test('affinity labels: converted to strings', () => {
  const { affinity_json, requirement } = declared(
    'affinity={"zone": ZONE, "gpu": True, 3: 4}',
    'ZONE = "eu" + "-1"',
  )
  expect(JSON.parse(affinity_json)).toEqual({ zone: 'eu-1', gpu: 'True', 3: '4' })
  expect(requirement.affinity).toEqual({ zone: 'eu-1', gpu: 'True', 3: '4' })
  expect(declared('affinity={}').affinity_json).toBe('null')
})

test.each([
  ['["a"]', 'dictionary'],
  ['{"a": None}', 'labels'],
  ['{"a": ["b"]}', 'labels'],
  ['{"a\\n": "b"}', 'labels'],
  ['{"a": f()}', 'constant'],
  ['{"__proto__": "a"}', 'labels'],
  [`{${Array.from({ length: 65 }, (_, i) => `${i}: 1`).join(', ')}}`, 'at most 64'],
])('affinity=%s: refused', (value, reason) => {
  expectRefusal(`affinity=${value}`, reason)
})
