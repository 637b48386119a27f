import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { keysOf, RPC_SERVICES } from '../../packages/rpc/src/pair-keys.ts'
import { loadSettings } from '../../packages/runtime/src/config/load-settings.ts'
import { natsUsers } from '../stores/nats-config.ts'
import { redisUsers } from '../stores/redis-users.ts'

const compose = readFileSync(new URL('../../deploy/compose.yml', import.meta.url), 'utf8')
const parsed = parse(compose, { merge: true }) as { services: Record<string, Service> }
const SECRETS = fileURLToPath(new URL('../../deploy/secrets.sh', import.meta.url))
const env = (store: string) => (service: string) => `of ${store} ${service}`

/** The content of a file that compose makes, with its passwords put in, as compose does it. */
function contentOf(name: string): string {
  const [, content = ''] =
    new RegExp(`^  ${name}:\\n    content: \\|\\n((?:      .*\\n)+)`, 'm').exec(compose) ?? []
  return content
    .replace(/^ {6}/gm, '')
    .replace(
      /(?<!\$)\$\{WINDLASS_(\w+?)_(\w+)_PASSWORD:\?run deploy\/secrets\.sh\}/g,
      (_, store, service) => env(store)(service.toLowerCase()),
    )
    .replaceAll('$$', '$')
}

interface Service {
  profiles?: string[]
  networks?: string[]
  ports?: string[]
  volumes?: string[]
  environment?: Record<string, unknown>
}
/** A service of compose.yml, with what it takes from the common parts. */
const serviceOf = (name: string): Service => parsed.services[name] as Service

const readMonitoring = (file: string) =>
  parse(readFileSync(new URL(`../../deploy/monitoring/compose/${file}`, import.meta.url), 'utf8'))

/** Programs that are in every image of a server, since they are part of it. */
const OWN_PROGRAMS: Record<string, string[]> = {
  postgres: ['pg_isready'],
  redis: ['redis-cli'],
  nats: [],
}

test.each(Object.keys(OWN_PROGRAMS))(
  'the health check of %s: uses no shell and no program that its image may lack',
  (name) => {
    const [, service = ''] =
      new RegExp(`^  ${name}:\\n((?: {4}.*\\n|\\n)+)`, 'm').exec(compose) ?? []
    expect(service).toContain('image: ')
    const [, kind, program] = /^ {6}test: \[([\w-]+), "?([\w-]+)/m.exec(service) ?? []
    expect([undefined, ...(OWN_PROGRAMS[name] ?? [])]).toContain(program)
    expect([undefined, 'CMD']).toContain(kind)
  },
)

test.each([
  ['nats', natsUsers(env('NATS'))],
  ['redis', redisUsers(env('REDIS'))],
])('the users of %s in compose.yml: those of npm start', (name, users) => {
  const lines = contentOf(name)
    .split('\n')
    .map((line) => line.trim())
  const theirs = lines.filter((line) => /^(\{ )?user/.test(line) && !/user: windlass,/.test(line))
  expect(theirs).toEqual(users)
})

/** The variables that `deploy/secrets.sh` writes to a file of its own. */
function makeSecrets(file: string): Map<string, string> {
  const { status, stderr } = spawnSync('sh', [SECRETS, file], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return new Map(lines.map((line) => line.split('=', 2) as [string, string]))
}

function secretsFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'windlass-secrets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return path.join(folder, '.env')
}

test('a second run of secrets.sh: keeps what is there and adds what is missing', () => {
  const file = secretsFile()
  writeFileSync(file, 'WINDLASS_REDIS_PASSWORD=mine\n')
  const first = makeSecrets(file)
  expect(first.get('WINDLASS_REDIS_PASSWORD')).toBe('mine')
  expect(makeSecrets(file)).toEqual(first)
  expect(statSync(file).mode & 0o077).toBe(0)
})

test('secrets.sh: makes each variable of compose.yml without a default, each with a value of its own', () => {
  const made = makeSecrets(secretsFile())
  const needed = [...compose.matchAll(/(?<!\$)\$\{(WINDLASS_\w+)(?::\?[^}]*)?\}/g)].map(
    ([, name]) => name,
  )
  expect([...made.keys()].sort()).toEqual([...new Set(needed), 'COMPOSE_PROFILES'].sort())
  expect(new Set(made.values()).size).toBe(made.size)
})

test('each service in compose.yml: gets the keys of its own pairs', () => {
  const found = [...compose.matchAll(/SVC_RPC__KEYS: "([^"]+)"/g)].map(([, keys = '']) =>
    keys.split(',').map((key) => /(\w+:\w+):\$\{WINDLASS_KEY_\w+:\?/.exec(key)?.[1]),
  )
  const wanted = RPC_SERVICES.map((service) =>
    keysOf('any secret', service).map((key) => key.slice(0, key.lastIndexOf(':'))),
  )
  expect(found.map((pairs) => pairs.sort().join()).sort()).toEqual(
    wanted.map((pairs) => pairs.sort().join()).sort(),
  )
})

const COLLECTOR = 'http://collector:4318'

test('ports in compose.yml: on the loopback address, those of the balancer unless another one is named', () => {
  const addresses = Object.entries(parsed.services).flatMap(([name, { ports = [] }]) =>
    ports.map((port) => [name, port.replace(/:\$\{WINDLASS_\w*PORT:-\d+\}:\d+$/, '')]),
  )
  expect(addresses.length).toBeGreaterThan(6)
  for (const [name, address] of addresses)
    expect(address, name).toMatch(
      name === 'balancer' ? /^\$\{WINDLASS_ADDRESS:-127\.0\.0\.1\}$/ : /^127\.0\.0\.1$/,
    )
})

test('the worker in compose.yml: its network has no store, no service and no answer to a query of metrics', () => {
  const inNetwork = Object.entries(parsed.services).filter(([, { networks }]) =>
    networks?.includes('edge'),
  )
  expect(serviceOf('worker').networks).toEqual(['edge'])
  expect(inNetwork.map(([name]) => name).sort()).toEqual(['balancer', 'collector', 'mcp', 'worker'])
})

test('spans in compose.yml: reach the collector that .env names, and Jaeger from there', () => {
  const { receivers, exporters, service } = readMonitoring('collector.yml')
  const { port } = new URL(COLLECTOR)
  expect(receivers.otlp.protocols.http.endpoint).toBe(`0.0.0.0:${port}`)
  for (const name of [
    'gateway',
    'identity',
    'catalog',
    'executions',
    'dispatcher-1',
    'scheduler',
    'mcp',
  ]) {
    const { environment, networks } = serviceOf(name)
    // Null: compose passes the variable of .env, if any.
    expect(environment, name).toMatchObject({ SVC_TELEMETRY__OTLP_ENDPOINT: null })
    expect(serviceOf('collector').networks).toEqual(
      expect.arrayContaining(networks?.slice(0, 1) ?? []),
    )
    expect(loadSettings({ SVC_TELEMETRY__OTLP_ENDPOINT: COLLECTOR }).telemetry.otlp_endpoint).toBe(
      COLLECTOR,
    )
  }
  expect(serviceOf('worker').environment).toMatchObject({ SVC_WORKER__OTLP_ENDPOINT: null })
  for (const [name, { receivers: from, exporters: to }] of Object.entries<Pipeline>(
    service.pipelines,
  )) {
    expect(Object.keys(receivers), name).toEqual(expect.arrayContaining(from))
    expect(Object.keys(exporters), name).toEqual(expect.arrayContaining(to))
  }
  for (const { endpoint } of Object.values<{ endpoint: string }>(exporters)) {
    const { hostname } = new URL(endpoint)
    const shared = serviceOf(hostname).networks?.filter((network) =>
      serviceOf('collector').networks?.includes(network),
    )
    expect(shared, hostname).toContain('monitoring')
  }
  expect(service.pipelines.traces).toMatchObject({
    receivers: ['otlp'],
    exporters: ['otlphttp/jaeger'],
  })
})

interface Pipeline {
  receivers: string[]
  exporters: string[]
}

test('metrics in compose.yml: read by Prometheus and the collector, under one job', () => {
  const { scrape_configs } = readMonitoring('prometheus.yml')
  const { receivers } = readMonitoring('collector.yml')
  const jobs = [scrape_configs, receivers.prometheus.config.scrape_configs].flat()
  expect(jobs.map(({ job_name }) => job_name)).toEqual(['windlass', 'windlass'])
  const names = jobs.flatMap(({ dns_sd_configs: [{ names, port }] }) => {
    expect(port).toBe(9100)
    return names
  })
  const built = Object.entries(parsed.services).filter(
    ([name, { profiles }]) => profiles?.[0] === 'system' && !/^(migrate|balancer)/.test(name),
  )
  expect(names.sort()).toEqual(built.map(([name]) => name).sort())
  expect(readFileSync(new URL('../../deploy/worker.Dockerfile', import.meta.url), 'utf8')).toMatch(
    /SVC_WORKER__HEALTH_HOST=0.0.0.0 SVC_WORKER__HEALTH_PORT=9100/,
  )
})

test('data sources of Grafana in compose.yml: are services of its network', () => {
  const { datasources } = readMonitoring('grafana/datasources/prometheus.yml')
  const hosts = (datasources as { url: string }[]).map(({ url }) => new URL(url).hostname)
  expect(hosts).toEqual(['prometheus', 'jaeger'])
  for (const host of hosts) expect(serviceOf(host).networks).toContain('monitoring')
})
