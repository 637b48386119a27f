import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, test } from 'vitest'
import { loadSettings } from '../../packages/runtime/src/config/load-settings.ts'
import {
  CHART,
  findChartProblems,
  SCHEMAS,
  VALUE_SETS,
  VERSION,
} from '../../scripts/lint/chart-manifests.ts'
import {
  chartObstacle,
  helm,
  kubeconform,
  manifestsOf,
  podsOf,
  render,
  run,
} from './chart-fixture.ts'

const rendering = test.skipIf(chartObstacle)

/** Stands for every secret: a service checks its format only when it uses it. */
const SECRET = 'a'.repeat(64)

rendering.each(VALUE_SETS)(
  'the value set %s: passes helm lint and renders manifests that the schemas accept',
  async (set) => {
    expect(await findChartProblems({ helm, kubeconform }, set)).toBeUndefined()
    expect(manifestsOf(render(set)).length).toBeGreaterThan(30)
  },
)

rendering('a manifest with a wrong member: is refused by the schemas', () => {
  const file = path.join(temporaryFolder('chart'), 'wrong.yaml')
  writeFileSync(file, render('small').replaceAll('imagePullPolicy:', 'pullPolicy:'))
  expect(run(kubeconform, ['-strict', '-schema-location', SCHEMAS, file]).status).toBe(1)
})

rendering.each(VALUE_SETS)(
  'the value set %s: each container may do no more than it needs',
  (set) => {
    for (const { metadata, spec } of podsOf(manifestsOf(render(set)))) {
      const pod = spec.template.spec
      expect(pod, metadata.name).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      })
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.resources).toMatchObject({ requests: {}, limits: {} })
      }
    }
  },
)

rendering('each service: reads from the secret what it uses and nothing else', () => {
  const read = podsOf(manifestsOf(render('ha'))).flatMap(({ spec }) =>
    spec.template.spec.containers.map(
      ({ name, args = [], env }) =>
        [
          [...args.slice(0, -1), name].join(' '),
          env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? []).sort(),
        ] as const,
    ),
  )
  expect(Object.fromEntries(read)).toEqual({
    gateway: [
      'execution-token-secret',
      'nats-url-gateway',
      'redis-url-gateway',
      'rpc-keys-gateway',
    ],
    identity: [
      'bootstrap-token',
      'encryption-key',
      'postgres-url-identity',
      'redis-url-identity',
      'rpc-keys-identity',
    ],
    catalog: ['nats-url-catalog', 'postgres-url-catalog', 'redis-url-catalog', 'rpc-keys-catalog'],
    executions: [
      'execution-token-secret',
      'nats-url-executions',
      'postgres-url-executions',
      'rpc-keys-executions',
    ],
    dispatcher: ['nats-url-dispatcher', 'postgres-url-dispatcher', 'rpc-keys-dispatcher'],
    scheduler: ['nats-url-scheduler', 'postgres-url-scheduler', 'rpc-keys-scheduler'],
    mcp: [],
    worker: [],
    'migrate identity': ['postgres-admin-url', 'postgres-url-identity'],
    'migrate catalog': ['postgres-admin-url', 'postgres-url-catalog'],
    'migrate executions': ['postgres-admin-url', 'postgres-url-executions'],
    'migrate dispatcher': ['postgres-admin-url', 'postgres-url-dispatcher'],
    'migrate scheduler': ['postgres-admin-url', 'postgres-url-scheduler'],
  })
})

rendering('three dispatchers: gateways get the address of each', () => {
  const gateway = manifestsOf(render('multi-zone')).find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'windlass-gateway',
  )
  const streams = gateway?.spec.template.spec.containers[0]?.env.find(
    ({ name }) => name === 'SVC_SERVICES__DISPATCHER_STREAMS',
  )
  expect(streams?.value?.split(',')).toEqual(
    [0, 1, 2].map((i) => `http://windlass-dispatcher-${i}.windlass-dispatcher:9001`),
  )
})

rendering.each([
  ['nats.replicas=7', '/nats/replicas'],
  ['services.gateway.replica=2', 'replica'],
  ['services.gateways.replicas=2', 'gateways'],
  ['publicUrl=windlass.example', '/publicUrl'],
  ['image.digest=1234', '/image/digest'],
  ['workers[0].name=A_B', '/workers/0/name'],
  ['workerDefaults.labels.a=b\\,c', '/workerDefaults/labels/a'],
  ['ingress.enabled=true', 'ingress.host'],
])('the value %s: is refused with the name of its key', (value, key) => {
  const { status, stderr } = run(helm, ['template', 'windlass', CHART, ...VERSION, '--set', value])
  expect(status).not.toBe(0)
  expect(stderr).toContain(key)
})

rendering.each(VALUE_SETS)('the value set %s: each service accepts its settings', (set) => {
  const services = podsOf(manifestsOf(render(set))).filter(({ kind }) => kind !== 'Job')
  for (const { spec } of services) {
    for (const { name, env } of spec.template.spec.containers.filter(
      ({ name }) => name !== 'worker',
    )) {
      const values = env.map((each) => [each.name, each.value ?? SECRET])
      const settings = loadSettings(Object.fromEntries(values))
      expect(settings.services.executions, name).toHaveLength(1)
    }
  }
})

/** The query with which a deployment of workers of the set `multi-zone` scales. */
function queryOf(worker: string, settings: string[]): string {
  const more = settings.flatMap((setting) => ['--set', setting])
  const scaled = manifestsOf(render('multi-zone', more)).find(
    ({ kind, metadata }) =>
      kind === 'ScaledObject' && metadata.name === `windlass-worker-${worker}`,
  )
  const [trigger] = (scaled?.spec.triggers ?? []) as { metadata: { query: string } }[]
  return trigger?.metadata.query ?? ''
}

/** Those of the affinities that a query counts; a comma separates the labels of each. */
function countedBy(query: string, affinities: string[]): string[] {
  const text = /^sum\(max by \(requirement\) \(windlass_queue_executions\{affinity=~(".*")\}\)\)$/
  const pattern = new RegExp(`^(?:${JSON.parse(text.exec(query)?.[1] ?? '""')})$`)
  return affinities.filter((each) => pattern.test(each))
}

const SCALED_GPU = [
  'workers[1].autoscaling.enabled=true',
  'workers[1].autoscaling.prometheusAddress=http://prometheus:9090',
]
const ALL_LABELLED = [...SCALED_GPU, 'workers[0].labels.zone=a.b', 'workers[1].labels.zone=a.b']

rendering.each([
  ['default', 'no labels', [], ['', '_other']],
  ['gpu', 'a label', SCALED_GPU, ['gpu=a100']],
  ['default', 'no deployment without', ALL_LABELLED, ['', '_other', 'zone=a.b']],
  [
    'gpu',
    'two labels',
    ALL_LABELLED,
    ['', '_other', 'gpu=a100', 'zone=a.b', 'gpu=a100,zone=a.b', 'zone=a.b,gpu=a100'],
  ],
])(
  'scaling of the workers %s, %s: counts the executions that they are for',
  (name, _, more, counted) => {
    const affinities = ['', '_other', 'gpu=a100', 'gpu=h100', 'zone=a.b', 'zone=axb']
    const pairs = ['gpu=a100,zone=a.b', 'zone=a.b,gpu=a100', 'gpu=a100,os=linux']
    expect(countedBy(queryOf(name, more), [...affinities, ...pairs])).toEqual(counted)
  },
)

rendering('scaling by a query of the values: is rendered as it is', () => {
  const query = 'sum(windlass_workers)'
  expect(queryOf('default', [`workers[0].autoscaling.query=${query}`])).toBe(query)
})
