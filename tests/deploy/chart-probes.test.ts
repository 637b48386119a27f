import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, test } from 'vitest'
import { VALUE_SETS } from '../../scripts/lint/chart-manifests.ts'
import { chartObstacle, manifestsOf, podsOf, render } from './chart-fixture.ts'

const rendering = test.skipIf(chartObstacle)

rendering.each(VALUE_SETS)('the value set %s: each pod that runs is probed and scraped', (set) => {
  const pods = podsOf(manifestsOf(render(set))).filter(({ kind }) => kind !== 'Job')
  for (const { metadata, spec } of pods) {
    const [container] = spec.template.spec.containers
    expect(container?.ports, metadata.name).toContainEqual({ name: 'admin', containerPort: 9100 })
    expect(container?.livenessProbe?.httpGet).toEqual({ path: '/live', port: 'admin' })
    expect(container?.readinessProbe?.httpGet).toEqual({ path: '/ready', port: 'admin' })
    expect(spec.template.metadata.annotations).toMatchObject({
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '9100',
      'prometheus.io/path': '/metrics',
    })
  }
  expect(pods.filter(({ metadata }) => metadata.name.includes('-worker-'))).not.toEqual([])
})

rendering('a worker without scraping and with an annotation: has that annotation only', () => {
  const annotated = 'workers[0].name=default,workers[0].annotations.team=a'
  const values = ['--set', 'monitoring.scrapeAnnotations=false', '--set', annotated]
  const worker = workersOf(render('small', values))[0]
  expect(worker?.spec.template.metadata.annotations).toEqual({ team: 'a' })
})

rendering(
  'network policies: admit readers of metrics to every pod, and to workers nothing else',
  () => {
    const policies = manifestsOf(render('ha')).filter(({ kind }) => kind === 'NetworkPolicy')
    for (const { metadata, spec } of policies) {
      const rules = spec.ingress as { ports: { port: string }[]; from?: object[] }[]
      const rule = rules.find(({ ports }) => ports.some(({ port }) => port === 'admin'))
      expect(rule?.from, metadata.name).toEqual([
        { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
      ])
      if (metadata.name === 'windlass-workers') expect(rules).toEqual([rule])
    }
  },
)

rendering(
  'a rendered worker: its own command accepts the variables and opens the probed port',
  () => {
    const [container] = workersOf(render('multi-zone'))[1]?.spec.template.spec.containers ?? []
    const token = path.join(temporaryFolder('chart'), 'token')
    writeFileSync(token, 'a'.repeat(64))
    const env = container?.env.map(({ name, value = 'pod-1' }) => [name, value]) ?? []
    const program = [
      'import os',
      'from windlass.worker._cli import read_settings',
      'from windlass.worker._cli_options import create_parser',
      'settings = read_settings(create_parser().parse_args(["start"]), os.environ)',
      'print(settings.health_host, settings.health_port, settings.labels)',
    ].join('\n')
    const { stdout, stderr } = spawnSync(process.env.TEST_PYTHON ?? 'python3', ['-c', program], {
      encoding: 'utf8',
      env: { ...Object.fromEntries(env), SVC_WORKER__BOOTSTRAP_TOKEN_FILE: token },
    })
    expect(stderr).toBe('')
    expect(stdout.trim()).toBe("0.0.0.0 9100 {'gpu': 'a100'}")
  },
)

const workersOf = (text: string) =>
  manifestsOf(text).filter(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name.includes('-worker-'),
  )
