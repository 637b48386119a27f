import { createAuthority } from '@windlass/testkit/certificates'
import { exposeMetrics } from '@windlass/testkit/exposed-metrics'
import { temporaryFolder } from '@windlass/testkit/folder'
import { freePort } from '@windlass/testkit/ports'
import { hasNats } from '@windlass/testkit/private-nats'
import { startPrivatePostgres } from '@windlass/testkit/private-postgres'
import { Process } from '@windlass/testkit/process'
import pg from 'pg'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { Readiness } from '../src/admin/readiness.ts'
import { Settings } from '../src/config/settings.ts'
import { openBus } from '../src/nats/bus.ts'
import { openDb } from '../src/postgres/db.ts'
import { toOutageFault } from '../src/postgres/outage.ts'
import { sql } from '../src/postgres/sql.ts'
import { Teardown } from '../src/process/teardown.ts'
import { openServiceRedis } from '../src/redis/open-service-redis.ts'
import { watchClientCertificate, watchDatabaseCertificate } from '../src/tls/client-certificate.ts'

const HANG_MS = 30_000
const EXPIRED_MS = -1_000
const silent = pino({ level: 'silent' })

interface Line {
  level: number
  problem?: string
  msg: string
}

/** Parts of a process, which end with the test. */
function processParts() {
  const lines: Line[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const readiness = new Readiness()
  const teardown = new Teardown(log)
  onTestFinished(() => teardown.run())
  readiness.setServing()
  return { log, readiness, teardown, lines }
}

const PROBLEM = 'windlass_problems{problem="certificate"'

/** Expects the reports of an expired certificate, replaces it, and expects that they end. */
async function expectReports(
  store: string,
  { readiness, lines }: ReturnType<typeof processParts>,
  replace: () => Promise<unknown>,
) {
  const failing = { status: 'not-ready', reason: 'dependencies', failing: [`${store} certificate`] }
  expect(await readiness.report()).toEqual(failing)
  const msg = expect.stringMatching(new RegExp(`svc.${store}.*has expired`))
  const begun = expect.objectContaining({ level: 50, problem: 'certificate', msg })
  expect(lines).toContainEqual(begun)
  const metric = exposeMetrics()
  expect(await metric(PROBLEM)).toBe(1)
  await replace()
  await expect.poll(() => readiness.report(), { timeout: HANG_MS }).toEqual({ status: 'ready' })
  expect(lines.filter(({ problem }) => problem).at(-1)).toMatchObject({ level: 30 })
  expect(await metric(PROBLEM)).toBe(0)
}

async function start(command: string, args: string[], ready: RegExp) {
  const server = new Process({ name: command, command, args, env: {}, ready })
  await server.start()
  onTestFinished(() => server.end('SIGKILL'))
}

test.skipIf(!hasNats)(
  'NATS: the client certificate expires and is replaced: reported, connected without a restart',
  async () => {
    const authority = await createAuthority()
    const server = await authority.issue('nats')
    const files = await authority.issue('client', EXPIRED_MS)
    const port = await freePort()
    const tls = ['--tlsverify', '--tlscert', server.certFile, '--tlskey', server.keyFile]
    const args = ['-a', '127.0.0.1', '-p', String(port), ...tls, '--tlscacert', authority.caFile]
    await start('nats-server', args, /Server is ready/)
    const parts = processParts()
    const nats = {
      tls_ca: authority.caFile,
      tls_cert: files.certFile,
      tls_key: files.keyFile,
    }
    const bus = await openBus(`tls://127.0.0.1:${port}`, silent, '', nats)
    onTestFinished(() => bus.close())
    await watchClientCertificate('nats', nats, parts)
    expect(bus.isUp).toBe(false)
    await expectReports('nats', parts, () => authority.issue('client'))
    await expect.poll(() => bus.isUp, { timeout: HANG_MS }).toBe(true)
  },
)

test('Redis: the client certificate expires and is replaced: reported, connected without a restart', async () => {
  const authority = await createAuthority()
  const server = await authority.issue('redis')
  const files = await authority.issue('client', EXPIRED_MS)
  const port = await freePort()
  const args = ['--port', '0', '--tls-port', String(port), '--bind', '127.0.0.1', '--save', '']
  const own = ['--tls-cert-file', server.certFile, '--tls-key-file', server.keyFile]
  const rest = ['--tls-ca-cert-file', authority.caFile, '--tls-auth-clients', 'yes']
  const folder = ['--dir', temporaryFolder('redis')]
  await start('redis-server', [...args, ...own, ...rest, ...folder], /Ready to accept/)
  const parts = processParts()
  const { redis: settings } = Settings.parse({
    redis: {
      url: `rediss://127.0.0.1:${port}`,
      tls_ca: authority.caFile,
      tls_cert: files.certFile,
      tls_key: files.keyFile,
    },
  })
  const redis = await openServiceRedis(settings, parts)
  await expect(redis.get('one')).rejects.toThrow()
  await expectReports('redis', parts, () => authority.issue('client'))
  const read = () => redis.get('one').catch(String)
  await expect.poll(read, { timeout: HANG_MS }).toBe(null)
})

test('client certificate for PostgreSQL expires, is replaced: 503, then connected without a restart', async () => {
  const authority = await createAuthority()
  const server = await authority.issue('postgres')
  const files = await authority.issue('client', EXPIRED_MS)
  const { url } = await startPrivatePostgres()
  await requireCertificates(url, { ...server, ca: authority.ca })
  const encrypted = new URL(url)
  encrypted.hostname = '127.0.0.1'
  for (const [name, value] of [
    ['sslmode', 'verify-full'],
    ['sslrootcert', authority.caFile],
    ['sslcert', files.certFile],
    ['sslkey', files.keyFile],
  ] as const)
    encrypted.searchParams.set(name, value)
  const parts = processParts()
  const db = openDb(encrypted.href, 'public')
  onTestFinished(() => db.close())
  await watchDatabaseCertificate(encrypted.href, parts)
  const read = () =>
    db.rows<{ ssl: boolean }>(sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`)
  const error = await read().catch((reason: unknown) => reason)
  expect(toOutageFault(error), String(error)).toMatchObject({ kind: 'unavailable' })
  await expectReports('postgres', parts, () => authority.issue('client'))
  await expect.poll(() => read().catch(String), { timeout: HANG_MS }).toEqual([{ ssl: true }])

  encrypted.searchParams.delete('sslkey')
  await expect(watchDatabaseCertificate(encrypted.href, parts)).rejects.toThrow(
    '[svc.postgres].url needs both sslcert and sslkey',
  )
})

/** Lets a server accept only connections with a certificate of the authority. */
async function requireCertificates(
  url: string,
  files: Record<'ca' | 'cert' | 'key', string>,
): Promise<void> {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  const { rows } = await admin.query('show data_directory')
  const folder = rows[0].data_directory as string
  /** Writes a file as the user of the server, readable by no other. */
  const write = (name: string, content: string) =>
    admin.query(
      `copy (select * from regexp_split_to_table('${content}', '\\n'))
         to program 'umask 077; cat > ${folder}/${name}'`,
    )
  await write('server.crt', files.cert)
  await write('server.key', files.key)
  await write('root.crt', files.ca)
  await write('pg_hba.conf', 'hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca')
  await admin.query("alter system set ssl_ca_file = 'root.crt'")
  await admin.query('alter system set ssl = on')
  await admin.query('select pg_reload_conf()')
  await admin.end()
}
