import type { SecureContextOptions } from 'node:tls'
import { ConfigError } from '../config/config-error.ts'
import { hostUrls } from '../postgres/writable-host.ts'
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
  const [first = url] = hostUrls(url).urls
  const parameters = new URLSearchParams(first.split('?')[1])
  const files = {
    tls_cert: parameters.get('sslcert') ?? undefined,
    tls_key: parameters.get('sslkey') ?? undefined,
  }
  if ((files.tls_cert === undefined) !== (files.tls_key === undefined))
    throw new ConfigError('[svc.postgres].url needs both sslcert and sslkey')
  await watchClientCertificate('postgres', files, parts)
}
