import { createAuthority } from '@windlass/testkit/certificates'
import { temporaryFolder } from '@windlass/testkit/folder'
import { freePort } from '@windlass/testkit/ports'
import { hasNats } from '@windlass/testkit/private-nats'
import { startPrivatePostgres } from '@windlass/testkit/private-postgres'
import { Process } from '@windlass/testkit/process'
import pg from 'pg'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openBus } from '../src/nats/bus.ts'
import { openDb } from '../src/postgres/db.ts'
import { sql } from '../src/postgres/sql.ts'
import { openRedis, redisReady } from '../src/redis/redis.ts'

const log = pino({ level: 'silent' })

async function start(command: string, args: string[], ready: RegExp) {
  const server = new Process({ name: command, command, args, env: {}, ready })
  await server.start()
  onTestFinished(() => server.end('SIGKILL'))
}

test.skipIf(!hasNats)(
  'NATS: tls:// encrypts, checks the server and shows a certificate',
  async () => {
    const authority = await createAuthority()
    const server = await authority.issue('nats')
    const client = await authority.issue('client')
    const port = await freePort()
    const tls = ['--tlsverify', '--tlscert', server.certFile, '--tlskey', server.keyFile]
    const args = ['-a', '127.0.0.1', '-p', String(port), ...tls, '--tlscacert', authority.caFile]
    await start('nats-server', args, /Server is ready/)

    const url = `tls://127.0.0.1:${port}`
    const { certFile: tls_cert, keyFile: tls_key } = client
    const open = async (address: string, options = {}) => {
      const bus = await openBus(address, log, '', options)
      onTestFinished(() => bus.close())
      return bus
    }
    const bus = await open(url, { tls_ca: authority.caFile, tls_cert, tls_key })
    await bus.ping()
    expect(bus.isUp).toBe(true)
    const { caFile: tls_ca } = await createAuthority()
    expect((await open(url, { tls_ca, tls_cert, tls_key })).isUp).toBe(false)
    expect((await open(url, { tls_ca: authority.caFile })).isUp).toBe(false)
  },
)

test('NATS: a tls:// URL never connects unencrypted, and other schemes are refused', async () => {
  const { hostname, port } = new URL(process.env.TEST_NATS_URL ?? '')
  const bus = await openBus(`tls://${hostname}:${port}`, log)
  onTestFinished(() => bus.close())
  expect(bus.isUp).toBe(false)
  await expect(openBus('http://127.0.0.1:4222', log)).rejects.toThrow('nats:// or tls://')
  await expect(openBus('nats://a:1,tls://b:1', log)).rejects.toThrow('the same for all servers')
  await expect(openBus('nats://127.0.0.1:4222', log, '', { tls_ca: '/ca' })).rejects.toThrow(
    'begin its url with tls://',
  )
})

test('Redis: rediss:// encrypts and checks the server', async () => {
  const authority = await createAuthority()
  const { certFile, keyFile } = await authority.issue('redis')
  const port = await freePort()
  const args = ['--port', '0', '--tls-port', String(port), '--bind', '127.0.0.1', '--save', '']
  const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile]
  const rest = ['--tls-ca-cert-file', authority.caFile, '--tls-auth-clients', 'no']
  const folder = ['--dir', temporaryFolder('redis')]
  await start('redis-server', [...args, ...files, ...rest, ...folder], /Ready to accept/)

  const url = `rediss://127.0.0.1:${port}`
  const open = async (tls_ca?: string) => {
    const redis = openRedis(url, { tls_ca })
    onTestFinished(() => redis.disconnect())
    await redisReady(redis)
    return redis
  }
  const redis = await open(authority.caFile)
  await redis.set('tls', '1')
  expect(await redis.get('tls')).toBe('1')
  await expect((await open()).get('tls')).rejects.toThrow()
  await expect((await open((await createAuthority()).caFile)).get('tls')).rejects.toThrow()
  expect(() => openRedis('redis://127.0.0.1:1', { tls_ca: '/ca' })).toThrow(
    'begin its url with rediss://',
  )
})

/** Writes a file as the user of the server, readable by no other. */
const writeAsServer = (client: pg.Client, path: string, content: string) =>
  client.query(
    `copy (select * from regexp_split_to_table('${content}', '\\n'))
       to program 'umask 077; cat > ${path}'`,
  )

test('PostgreSQL: sslmode=verify-full encrypts and checks the server', async () => {
  const authority = await createAuthority()
  const { cert, key } = await authority.issue('postgres')
  const { url } = await startPrivatePostgres()
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  const { rows } = await admin.query('show data_directory')
  const folder = rows[0].data_directory as string
  await writeAsServer(admin, `${folder}/server.crt`, cert)
  await writeAsServer(admin, `${folder}/server.key`, key)
  await admin.query('alter system set ssl = on')
  await admin.query('select pg_reload_conf()')
  await admin.end()

  const open = (caFile: string) => {
    const encrypted = new URL(url)
    encrypted.hostname = '127.0.0.1'
    encrypted.searchParams.set('sslmode', 'verify-full')
    encrypted.searchParams.set('sslrootcert', caFile)
    const db = openDb(encrypted.href, 'public')
    onTestFinished(() => db.close())
    return db.rows(sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`)
  }
  await expect.poll(() => open(authority.caFile).catch(String)).toEqual([{ ssl: true }])
  await expect(open((await createAuthority()).caFile)).rejects.toThrow('certificate')
})
