import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { type ComposeProject, composeProject } from './compose-fixture.ts'

// The stores that the value sets of the chart expect: those of deploy/compose.yml, for a highly available installation
// with a NATS cluster of three and with TLS.

export interface ChartStores {
  network: string
  /** Secrets to which the chart refers, by their name. */
  secrets: Record<string, Record<string, string>>
}
interface StoreOptions {
  natsServers: 1 | 3
  hasTls: boolean
}

const NATS = ['nats', 'nats-2', 'nats-3']
const TLS = '/etc/windlass/store-tls'

/** Starts the stores; they are removed with the test. */
export async function startStores(options: StoreOptions): Promise<ChartStores> {
  const project = await composeProject()
  const { name, sh, containers } = project
  sh('deploy/secrets.sh')
  const files = options.hasTls ? issueAll(project) : undefined
  const nats = NATS.slice(0, options.natsServers)
  const override = { services: overridesOf(nats, files?.store) }
  writeFileSync(path.join(project.folder, 'deploy/stores.json'), JSON.stringify(override))
  sh(
    'docker compose -f deploy/compose.yml -f deploy/stores.json --profile stores up --detach --wait',
  )
  const services = containers().map(({ Service }) => Service)
  expect(services.sort()).toEqual([...nats, 'postgres', 'redis'])

  const ca = '/etc/windlass/tls/postgres/ca.crt'
  const stores = {
    POSTGRES: `postgres:5432/windlass${files ? `?sslmode=verify-full&sslrootcert=${ca}` : ''}`,
    NATS: nats.map((host) => `${files ? 'tls' : 'nats'}://${host}:4222`).join(','),
    REDIS: `${files ? 'rediss' : 'redis'}://redis:6379`,
  }
  const windlass = parse(sh('deploy/helm/secret.sh deploy/.env', stores)).stringData
  return { network: `${name}_stores`, secrets: { windlass, ...files?.secrets } }
}

/** Makes an authority and the certificates of the stores, the services and the gateways. */
function issueAll({ folder, sh }: ComposeProject) {
  sh('deploy/secrets.sh --tls windlass-gateway')
  sh(ISSUE, { NAME: 'store', NAMES: ['postgres', 'redis', ...NATS].map((n) => `DNS:${n}`).join() })
  const read = (file: string) => readFileSync(path.join(folder, 'deploy/tls', file), 'utf8')
  const tls = (file: string) => ({
    'ca.crt': read('ca.pem'),
    'tls.crt': read(`${file}.pem`),
    'tls.key': read(`${file}.key`),
  })
  const authority = { 'ca.crt': read('ca.pem') }
  return {
    store: path.join(folder, 'deploy/tls'),
    secrets: {
      'postgres-ca': authority,
      'nats-ca': authority,
      'redis-ca': authority,
      'windlass-services-tls': tls('service'),
      // For windlass-gateway, localhost and balancer.
      'windlass-gateway-tls': tls('balancer'),
    },
  }
}

const ISSUE = `
  cd deploy/tls
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$NAME" -keyout $NAME.key -out $NAME.csr
  printf 'subjectAltName=%s\\nauthorityKeyIdentifier=keyid\\n' "$NAMES" >$NAME.ext
  openssl x509 -req -in $NAME.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile $NAME.ext -out $NAME.pem
  # The servers of the containers are users of their own.
  chmod 755 . && chmod 644 $NAME.pem $NAME.key`

/** Changes of the services of deploy/compose.yml, and further ones. */
function overridesOf(nats: readonly string[], tls: string | undefined): Record<string, object> {
  const mount = tls && [`${tls}:${TLS}:ro`]
  const routes = nats.map((host) => `nats://${host}:6222`).join(',')
  const servers = nats.map((host): [string, object] => [
    host,
    {
      ...(host !== 'nats' && natsOfCompose()),
      command: [
        ...['--config', '/etc/windlass/nats.conf', '--name', host],
        ...(nats.length > 1 ? ['--cluster_name', 'windlass'] : []),
        ...(nats.length > 1 ? ['--cluster', 'nats://0.0.0.0:6222', '--routes', routes] : []),
        ...(tls ? ['--tlscert', `${TLS}/store.pem`, '--tlskey', `${TLS}/store.key`] : []),
      ],
      volumes: [`/data`, ...(mount ?? [])],
    },
  ])
  if (!mount) return Object.fromEntries(servers)
  const key = '/var/tmp/store.key'
  // PostgreSQL refuses a key that others can read.
  const postgres = `install -o postgres -m 600 ${TLS}/store.key ${key} && exec docker-entrypoint.sh postgres \
    -c max_connections=300 -c jit=off -c ssl=on -c ssl_cert_file=${TLS}/store.pem -c ssl_key_file=${key}`
  const redis = ['redis-server', '/etc/windlass/redis.conf', '--port', '0', '--tls-port', '6379']
  const files = ['cert-file', 'store.pem', 'key-file', 'store.key', 'ca-cert-file', 'ca.pem']
  return {
    ...Object.fromEntries(servers),
    postgres: { command: ['sh', '-c', postgres], volumes: mount },
    redis: {
      command: [
        ...redis,
        ...files.map((each, i) => (i % 2 ? `${TLS}/${each}` : `--tls-${each}`)),
        ...['--tls-auth-clients', 'no'],
      ],
      healthcheck: {
        test: ['CMD', 'redis-cli', '-e', '--tls', '--cacert', `${TLS}/ca.pem`, 'ping'],
      },
      volumes: mount,
    },
  }
}

/** The server of deploy/compose.yml without its port of the host, for a further one. */
function natsOfCompose(): object {
  const file = new URL('../../deploy/compose.yml', import.meta.url)
  const { nats } = parse(readFileSync(file, 'utf8'), { merge: true }).services
  const { ports: _, ...rest } = nats
  return rest
}
