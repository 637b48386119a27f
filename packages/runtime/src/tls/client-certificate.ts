import type { SecureContextOptions } from 'node:tls'
import { ConfigError } from '../config/config-error.ts'
import type { Runtime } from '../process/main.ts'
import { readServerTls, type ServerTls } from './server-tls.ts'

/*
 * The certificates with which a process proves itself to PostgreSQL, NATS and Redis. A store refuses new
 * connections with one that has expired, and keeps those that exist, so this would be noticed with the first
 * connection that breaks. The drivers of PostgreSQL and NATS read the files for each connection, so that a
 * replaced certificate is used without a restart; that of Redis gets the changed files.
 */

type Parts = Pick<Runtime, 'log' | 'readiness' | 'teardown'>
interface Files {
  tls_cert?: string | undefined
  tls_key?: string | undefined
}
type Store = 'postgres' | 'nats' | 'redis'
const FILE_PARAMETERS = ['sslrootcert', 'sslcert', 'sslkey'] as const
type DatabaseFiles = Partial<Record<(typeof FILE_PARAMETERS)[number], string>>

/**
 * Watches a client certificate, if there is one: the process reports the problem `certificate` and is not ready
 * while it has expired. Runs `use` with changed files.
 */
export async function watchClientCertificate(
  store: Store,
  { tls_cert, tls_key }: Files,
  { log, readiness, teardown }: Parts,
  use: (changed: SecureContextOptions) => void = () => {},
): Promise<void> {
  const tls = await readServerTls(`[svc.${store}]`, { tls_cert, tls_key })
  if (!tls) return
  const listener = { setSecureContext: use } as Parameters<ServerTls['reloadOnChange']>[0]
  const name = `${store} certificate`
  teardown.add(name, tls.reloadOnChange(listener, log))
  readiness.add(name, () => tls.check())
}

/** Watches the client certificate that the URL of a database names. */
export async function watchDatabaseCertificate(url: string, parts: Parts): Promise<void> {
  await watchClientCertificate('postgres', databaseCertificate(url), parts)
}

/** The client certificate that the URL of a database names. Throws for a certificate without a key. */
export function databaseCertificate(url: string): Files {
  const { sslcert: tls_cert, sslkey: tls_key } = databaseFiles(url)
  if ((tls_cert === undefined) !== (tls_key === undefined))
    throw new ConfigError('[svc.postgres].url needs both sslcert and sslkey')
  return { tls_cert, tls_key }
}

/** The files that the URL of a database names, by its parameters. */
export function databaseFiles(url: string): DatabaseFiles {
  const parameters = new URLSearchParams(url.split('?')[1])
  const named = FILE_PARAMETERS.filter((name) => parameters.get(name))
  return Object.fromEntries(named.map((name) => [name, parameters.get(name) ?? '']))
}
